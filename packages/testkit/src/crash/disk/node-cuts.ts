/** A node on a disk that forgets: at any cut its database opens again and has what it promised to keep. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, post } from "@anulo/devnet";
import { checkDatabase, createNode, type Node, parseSyncMode } from "@anulo/node";
import { toHex } from "@anulo/protocol";
import { type ChainStore, openStore } from "@anulo/storage";
import { loadChain, type RecordedChain } from "../../fixtures.ts";
import { sendTransaction, submitBlock } from "../../load-chain.ts";
import type { Chance } from "../chance.ts";
import { type Cut, CutTaker } from "./cuts.ts";
import { ForgetfulDisk } from "./forgetful-disk.ts";

/** A state that was returned to callers. Ids are hexadecimal; the chain from genesis on. */
interface Acknowledged {
  readonly chain: readonly string[];
  readonly pool: readonly string[];
}

/** What must be there after a cut: the first blocks of the main chain, and transactions in chain or pool. */
interface Expected {
  readonly mode: string;
  readonly chain: readonly string[];
  readonly transactions: readonly string[];
}

export interface NodeCutsOptions {
  readonly folder: string;
  readonly chance: Chance;
  readonly count: number;
  readonly onProgress: (cuts: number) => void;
}

/** What the process is watched for; set by what is at work. */
export interface Hooks {
  beginSync: (file: number) => () => void;
  onOperation: (operation: string, file?: number) => void;
  bootId: string | undefined;
}

const OTHER_BOOT = "00000000-1111-2222-3333-444444444444";
const MODES = ["safe", "fast", "fastest"] as const;
/** Every so many cuts the database is compared as a whole with the bytes of its blocks. */
const WHOLE_CHECK_EVERY = 10;

function commonStart(a: readonly string[], b: readonly string[]): readonly string[] {
  const end = a.findIndex((id, i) => id !== b[i]);
  return end === -1 ? a : a.slice(0, end);
}

class Victim {
  readonly cuts: CutTaker<Expected>;
  readonly #disk: ForgetfulDisk;
  readonly #folder: string;
  readonly #mode: string;
  readonly #chance: Chance;
  readonly #recorded: RecordedChain;
  #node!: Node;
  /** All that was acknowledged, oldest first; and how many were when the newest flushed state was written. */
  readonly #states: Acknowledged[] = [];
  #durable = 0;
  #atFlush = 0;
  #isMarked = false;
  /** Blocks that what is under way leaves alone. */
  #untouched = Number.POSITIVE_INFINITY;

  constructor(parts: {
    folder: string;
    mode: string;
    chance: Chance;
    count: number;
    recorded: RecordedChain;
  }) {
    const { folder, mode, chance, count, recorded } = parts;
    [this.#folder, this.#mode, this.#chance, this.#recorded] = [folder, mode, chance, recorded];
    this.#disk = new ForgetfulDisk(folder, /-lock$|\.pid$/);
    this.cuts = new CutTaker({ disk: this.#disk, chance, count, expect: (kind) => this.#expected(kind) });
  }

  /** A flush is two syncs with a mark between them; what it began with is durable after the second. */
  hooks(): Pick<Hooks, "beginSync" | "onOperation"> {
    return {
      beginSync: (file) => {
        if (!this.#disk.has(file)) return () => {};
        const done = this.#disk.beginSync(file);
        const [acknowledged, isMarked] = [this.#states.length, this.#isMarked];
        return () => {
          done();
          if (isMarked) this.#durable = Math.max(this.#durable, this.#atFlush);
          this.#atFlush = acknowledged;
          this.#isMarked = false;
        };
      },
      onOperation: (operation, file) => {
        if (operation === "write" && file !== undefined && this.#disk.has(file)) this.#isMarked = true;
        this.cuts.offer();
      },
    };
  }

  async start(): Promise<void> {
    this.#node = createNode({
      network: "regtest",
      fixedDifficulty: 1n,
      offline: true,
      verifyThreads: 0,
      databasePath: join(this.#folder, "chain.mdb"),
      syncMode: parseSyncMode(this.#mode),
    });
    await this.#node.start();
    // Nothing has been returned to callers yet.
    if (this.#states.length === 0) this.#states.push(stateOf(this.#node.chain.store));
  }

  async stop(): Promise<void> {
    await this.#node.stop();
    // A clean end flushes everything, in every mode.
    this.#durable = this.#states.length;
    this.cuts.offer(true);
  }

  #acknowledge(): void {
    const { store } = this.#node.chain;
    this.#states.push(stateOf(store));
    if (this.#mode === "safe") this.#durable = this.#states.length;
    this.#untouched = Number.POSITIVE_INFINITY;
    this.cuts.offer(this.#chance.happens(0.5));
  }

  #expected(kind: Cut<Expected>["kind"]): Expected {
    const first = kind === "killed" ? this.#states.length : this.#durable;
    const [base, ...later] = this.#states.slice(Math.max(0, first - 1));
    if (first === 0 || base === undefined) return { mode: this.#mode, chain: [], transactions: [] };
    const chain = later.reduce<readonly string[]>(
      (common, state) => commonStart(common, state.chain),
      base.chain,
    );
    const transactions = later.reduce<readonly string[]>(
      (common, { pool }) => common.filter((id) => pool.includes(id)),
      base.pool,
    );
    return { mode: this.#mode, chain: chain.slice(0, this.#untouched), transactions };
  }

  /** One thing a node does, until it is acknowledged. */
  async work(): Promise<void> {
    const url = this.#node.urls[0]!;
    const height = this.#states.at(-1)!.chain.length;
    const next = () => this.#nextBlock(url, height);
    const back = () => this.#pop(url, height);
    const branch = () => this.#detour(url, height);
    const save = async () => void (await post(`${url}/save_bc`, {}));
    const restart = () => this.#restart();
    const early = [next, next, next, save, restart];
    const later = [...early, next, next, next, save, back, back, branch, branch];
    const isAtEnd = height > this.#recorded.blocks.length;
    await this.#chance.pick(isAtEnd ? [back] : height > 10 ? later : early)();
    this.#acknowledge();
  }

  async #nextBlock(url: string, height: number): Promise<void> {
    const { blob, txs } = this.#recorded.blocks[height - 1]!;
    for (const hex of txs) {
      await sendTransaction(url, hex);
      this.#acknowledge();
    }
    await submitBlock(url, blob);
  }

  async #pop(url: string, height: number): Promise<void> {
    const nblocks = this.#chance.between(1, 4);
    this.#untouched = height - nblocks;
    await post(`${url}/pop_blocks`, { nblocks });
  }

  /** Another branch wins, and is taken off again. */
  async #detour(url: string, height: number): Promise<void> {
    const depth = this.#chance.between(1, 3);
    const chain = this.#states.at(-1)!.chain;
    this.#untouched = height - depth;
    await call(url, "generateblocks", {
      amount_of_blocks: depth + 1,
      wallet_address: this.#recorded.wallets.alice.address,
      prev_block: chain[height - depth - 1]!,
    });
    this.#acknowledge();
    this.#untouched = height - depth;
    await post(`${url}/pop_blocks`, { nblocks: depth + 1 });
  }

  async #restart(): Promise<void> {
    await this.stop();
    await this.start();
  }
}

function stateOf({ read }: Pick<ChainStore, "read">): Acknowledged {
  const chain = Array.from({ length: read.height() }, (_, height) => toHex(read.blockInfo(height)!.hash));
  return { chain, pool: read.poolTransactions().map(({ hash }) => toHex(hash)) };
}

interface Opening {
  readonly folder: string;
  readonly hooks: Hooks;
  readonly isWhole: boolean;
}

/** Opens what a cut has left, as the machine or only the process was started again. Throws for what is missing. */
async function openCut({ kind, image, expected }: Cut<Expected>, opening: Opening): Promise<void> {
  const { folder, hooks, isWhole } = opening;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, bytes] of image) writeFileSync(join(folder, name), bytes);
  const path = join(folder, "chain.mdb");
  if (expected.chain.length > 0 && !existsSync(path)) throw new Error("the database is not there");
  hooks.bootId = kind === "killed" ? undefined : OTHER_BOOT;
  try {
    const store = await openStore({ path, network: "regtest", checkAll: true });
    try {
      checkState(store, expected);
    } finally {
      await store.close();
    }
    if (isWhole && expected.chain.length > 0) await checkDatabase({ path, network: "regtest" });
  } catch (error) {
    throw new Error(`${kind}, mode ${expected.mode}: ${String(error)}; see ${folder}`, { cause: error });
  } finally {
    hooks.bootId = undefined;
  }
}

function checkState(store: ChainStore, expected: Expected): void {
  const { chain, pool } = stateOf(store);
  const lost = expected.chain.findIndex((id, height) => chain[height] !== id);
  if (lost !== -1)
    throw new Error(`block ${lost} of ${expected.chain.length} is gone, ${chain.length} are there`);
  for (const id of expected.transactions) {
    if (!pool.includes(id) && store.read.transaction(Buffer.from(id, "hex")) === undefined)
      throw new Error(`transaction ${id} is gone`);
  }
}

/** Lets nodes of every sync mode work, and checks each cut. Rejects at the first that lost something. */
export async function runNodeCuts(options: NodeCutsOptions, hooks: Hooks): Promise<number> {
  const { folder, chance, count, onProgress } = options;
  const recorded = loadChain();
  let cuts = 0;
  for (const [at, mode] of MODES.entries()) {
    const share = Math.floor((count * (at + 1)) / MODES.length) - Math.floor((count * at) / MODES.length);
    const victim = new Victim({
      folder: mkdtempSync(join(folder, `${mode}-`)),
      mode,
      chance,
      count: share,
      recorded,
    });
    Object.assign(hooks, victim.hooks());
    const check = () =>
      victim.cuts.check(async (cut) => {
        const isWhole = ++cuts % WHOLE_CHECK_EVERY === 0;
        await openCut(cut, { folder: join(folder, "cut"), hooks, isWhole });
        onProgress(cuts);
      });
    await victim.start();
    while (!victim.cuts.isDone) {
      await victim.work();
      await check();
    }
    await victim.stop();
    await check();
  }
  return cuts;
}
