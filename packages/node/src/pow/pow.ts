import { agreedPowHash } from "@anulo/consensus";
import { createKnownHashes } from "./known-hashes.ts";
import type { DatasetStatus, Engine, PowAnswer, PowQuestion } from "./messages.ts";
import { startPowChild } from "./pow-child.ts";
import { startPowHere } from "./pow-here.ts";
import { createQuestions, type OnProgress, type Questions, type QuestionsOptions } from "./questions.ts";
import { checkWork, type FoundNonce, type PowSearch, type PowWork, seedOf, withNonce } from "./work.ts";

/**
 * Proof-of-work hashing, beside the event loop or in a separate process; both are started when they are first needed.
 */
export interface Pow {
  /** The hash (32 bytes) of a block's blob; rejects with an Error when it cannot be computed. */
  hash(work: PowWork): Promise<Uint8Array>;
  /** The same for work whose seed, height or version is only claimed: the hash is not remembered. */
  hashClaimed(work: PowWork): Promise<Uint8Array>;
  /**
   * The hash (32 bytes) of a block (by its id, 32 bytes) that was hashed or found here, as long as it is remembered.
   */
  hashOf(blockId: Uint8Array): Uint8Array | undefined;
  /** Searches for a nonce. */
  search(search: PowSearch, onProgress?: OnProgress): RunningSearch;
  /** Keeps what the seed in use needs, and builds what the next one will need, if hashes are being computed at all. */
  useSeeds(current: Uint8Array, next?: Uint8Array): void;
  /** Why the last hash could not be computed; undefined if it could, or if there was none. */
  readonly fault: string | undefined;
  /** Number of hashes that are being computed or wait. */
  readonly openHashes: number;
  /** Milliseconds since the last of them was done, or since the first one arrived; 0 if none is open. */
  stalledMs(): number;
  /** Ends the process at once; open questions reject. */
  stop(): Promise<void>;
}

/** A running search. */
export interface RunningSearch {
  /** Undefined if it was stopped, or all nonces were tried. */
  readonly result: Promise<FoundNonce | undefined>;
  stop(): void;
}

export interface PowOptions {
  /** Threads for verification; a search may use more. */
  readonly threads: number;
  /** Milliseconds without work after which the process ends, which frees its memory. */
  readonly idleMs?: number | undefined;
  /** Never uses the system's RandomX library. */
  readonly isPortable?: boolean | undefined;
  /** Flags of that library that must not be used, as in monerod's `MONERO_RANDOMX_UMASK`. */
  readonly disabledFlags?: number | undefined;
  /** Receives which code computes RandomX, and why it is not the library. */
  readonly onEngine?: (engine: Engine, reason: string | undefined) => void;
  /** Receives the progress of a long search's dataset. */
  readonly onDataset?: (news: DatasetStatus) => void;
}

/** Longer than the time between two blocks of a real network, so that a node in step keeps its cache. */
const DEFAULT_IDLE_MS = 10 * 60_000;

/** How hashing is started: in this process, and in a separate one. */
export interface HashStarts {
  readonly here: QuestionsOptions["start"];
  readonly process: QuestionsOptions["start"];
}

/** Creates it without a process; `starts` is for tests. */
export function createPow(
  options: PowOptions,
  starts: HashStarts = { here: startPowHere, process: startPowChild },
): Pow {
  const services = createHashServices(options, starts);
  const knownHashes = createKnownHashes();
  let nextId = 1;
  let fault: string | undefined;
  let openHashes = 0;
  let lastEndedAt = 0;
  const compute = async (work: PowWork) => {
    checkWork(work);
    const agreed = agreedPowHash(work.height);
    if (agreed !== undefined) return agreed;
    if (openHashes++ === 0) lastEndedAt = performance.now();
    try {
      const hash = await services.hash({ id: nextId++, work });
      fault = undefined;
      return hash;
    } catch (error) {
      fault = (error as Error).message;
      throw error;
    } finally {
      openHashes--;
      lastEndedAt = performance.now();
    }
  };
  return {
    get fault() {
      return fault;
    },
    get openHashes() {
      return openHashes;
    },
    stalledMs: () => (openHashes === 0 ? 0 : performance.now() - lastEndedAt),
    async hash(work) {
      const hash = await compute(work);
      knownHashes.add(work.blob, hash);
      return hash;
    },
    hashClaimed: compute,
    hashOf: knownHashes.of,
    search(search, onProgress) {
      checkWork(search);
      const id = nextId++;
      const response = services.process.ask({ type: "search", id, search }, onProgress);
      const result = response.then((answer) => {
        const nonce = foundOf(answer);
        if (nonce !== undefined)
          knownHashes.add(withNonce(search.blob, search.nonceOffset, nonce.nonce), nonce.hash);
        return nonce;
      });
      return { result, stop: () => services.process.abandon(id) };
    },
    useSeeds: (current, next) => {
      for (const place of [services.here, services.process]) place.useSeeds({ type: "seeds", current, next });
    },
    async stop() {
      await Promise.all([services.here.stop(), services.process.stop()]);
    },
  };
}

interface HashQuestion {
  readonly id: number;
  readonly work: PowWork;
}

/**
 * Chooses who answers: with the system's library, single hashes of RandomX are computed in this process, all else in
 * the other one.
 */
function createHashServices(options: PowOptions, starts: HashStarts) {
  const { threads, idleMs = DEFAULT_IDLE_MS, disabledFlags = 0, onDataset = () => {} } = options;
  let engine: Engine | undefined = options.isPortable === true ? "portable" : undefined;
  const shared = {
    idleMs,
    settings: () => ({ threads, engine, disabledFlags }),
    // Determined once for both, and for all later processes: the check takes a second.
    onEngine(chosenEngine: Engine, reason: string | undefined) {
      if (engine !== chosenEngine) options.onEngine?.(chosenEngine, reason);
      engine = chosenEngine;
    },
    onDataset,
  };
  const here = createQuestions({ ...shared, start: starts.here });
  const process = createQuestions({ ...shared, start: starts.process });
  return {
    here,
    process,
    async hash(question: HashQuestion): Promise<Uint8Array> {
      if (seedOf(question.work) === undefined || engine === "portable") return askForHash(process, question);
      try {
        return await askForHash(here, question);
      } catch (error) {
        // The first questions find out that there is no library.
        if (shared.settings().engine === "portable") return askForHash(process, question);
        throw error;
      }
    },
  };
}

async function askForHash(questions: Questions, hash: HashQuestion): Promise<Uint8Array> {
  const question: PowQuestion = { type: "hash", ...hash };
  const answer = await questions.ask(question);
  if (answer?.type !== "hashed") throw new Error(`whoever hashes gave an odd answer: ${answer?.type}`);
  return answer.hash;
}

function foundOf(answer: PowAnswer | undefined): FoundNonce | undefined {
  return answer?.type === "searched" ? answer.nonce : undefined;
}
