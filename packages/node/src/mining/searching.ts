import { randomBytes } from "node:crypto";
import { RuleViolation } from "@anulo/consensus";
import { toHex } from "@anulo/protocol";
import type { Logger } from "@anulo/rpc";
import { acceptBlock } from "../chain/chain.ts";
import type { Events } from "../chain/events.ts";
import type { ChainParts } from "../chain/parts.ts";
import type { Pow, RunningSearch } from "../pow/pow.ts";
import { type BlockTemplate, createTemplate, NoTemplate } from "./block-template.ts";
import type { MinerKeys } from "./miner-transaction.ts";
import { provenBlock, searchOf } from "./prove-work.ts";
import { runWithoutFailures } from "./without-failures.ts";

/** How hard to search. */
export interface Effort {
  readonly threads: number;
  readonly isPaused?: boolean;
  /** Milliseconds a thread rests after a hash. */
  readonly restMs?: number;
}

export interface SearchingOptions {
  readonly parts: ChainParts;
  readonly events: Events;
  readonly pow: Pow;
  readonly log: Logger;
  readonly keys: MinerKeys;
  readonly effort: () => Effort;
  readonly onHashes: (hashes: number, cpuMs: number) => void;
  /** Called when the search has ended because of an error. */
  readonly onFault: () => void;
}

/** Searches for one block after another, always on the current top. */
export interface Searching {
  /** Continues with a new template and the current effort. */
  restart(): void;
  /** Reward of the current template (atomic units). */
  blockReward(): bigint;
  stop(): void;
}

/** Below this difficulty, blocks are found before the dataset would be ready. */
const LONG_DIFFICULTY = 1000n;
/** Interval of checks whether the pool has changed. Source: miner.h `m_update_block_template_interval`. */
const POLL_MS = 5000;
/** Age after which a template gets a new timestamp. */
const MAX_AGE_MS = 30_000;

interface CurrentSearch {
  readonly template: BlockTemplate;
  readonly search: RunningSearch;
  readonly poolCookie: number;
  readonly since: number;
}

/** Creates the search; it starts with the first `restart`. */
export function createSearching(options: SearchingOptions): Searching {
  const { parts, events, pow, log, keys } = options;
  let current: CurrentSearch | undefined;
  let generation = 0;
  let isStopped = false;
  let reward = 0n;
  const halt = () => {
    current?.search.stop();
    current = undefined;
  };
  const stop = () => {
    isStopped = true;
    clearInterval(timer);
    unlisten();
    halt();
  };
  const begin = (template: BlockTemplate) => {
    reward = template.expectedReward;
    const { isPaused, ...effort } = options.effort();
    halt();
    if (isPaused) return;
    const firstNonce = randomBytes(4).readUInt32LE();
    const isLong = template.difficulty > LONG_DIFFICULTY;
    const order = { ...searchOf(template, firstNonce), ...effort, isLong };
    const search = pow.search(order, options.onHashes);
    const started: CurrentSearch = {
      template,
      search,
      poolCookie: parts.pool.cookie,
      since: performance.now(),
    };
    current = started;
    void finish(started).catch(fault);
  };
  const finish = async (started: CurrentSearch) => {
    const nonce = await started.search.result;
    if (isStopped || current !== started) return;
    current = undefined;
    if (nonce !== undefined) await submit(options, started.template, nonce.nonce);
    await restart();
  };
  const fault = (error: unknown) => {
    if (isStopped) return;
    log.error("mining cannot go on", { error });
    stop();
    options.onFault();
  };
  /** A restart that is under way is abandoned when another one begins. */
  const restart = async (): Promise<void> => {
    const own = ++generation;
    const order = { keys, extraNonce: new Uint8Array(0) };
    try {
      const template = await runWithoutFailures(parts, () => createTemplate(parts, order));
      if (!isStopped && own === generation) begin(template);
    } catch (error) {
      if (!(error instanceof NoTemplate || error instanceof RuleViolation)) throw error;
      log.warn("no block to mine on now", { reason: error.message });
    }
  };
  const restartNow = () => void restart().catch(fault);
  const poll = () => {
    const isFresh = current !== undefined && performance.now() - current.since < MAX_AGE_MS;
    if (!isFresh || current?.poolCookie !== parts.pool.cookie) restartNow();
  };
  const timer = setInterval(poll, POLL_MS).unref();
  const unlisten = events.listen(({ type }) => {
    const isOfPool = type === "transactionAdded" || type === "transactionsPublic";
    if (!isOfPool && type !== "alternativeBlock") restartNow();
  });
  return { restart: restartNow, blockReward: () => reward, stop };
}

/** Adds a found block to the chain; one that was found too late is not an error. */
async function submit(
  { parts, log }: SearchingOptions,
  template: BlockTemplate,
  nonce: number,
): Promise<void> {
  const incoming = provenBlock(parts, template, nonce);
  try {
    const outcome = await acceptBlock(parts, incoming);
    const { height, difficulty } = template;
    log.info("found a block", { id: toHex(incoming.id), height, difficulty, outcome });
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    log.warn("a block that was found is refused", { id: toHex(incoming.id), reason: error.message });
  }
}
