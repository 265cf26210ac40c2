/** Wallets of a scan thread that scan the same blocks. */

import { setImmediate } from "node:timers/promises";
import { wipe } from "@anulo/crypto";
import { NO_VIEW_TAG } from "@anulo/protocol";
import { encodeChange } from "../encode-change.ts";
import type { ScannedTransaction } from "../state.ts";
import { pickOwn, type ScanContext } from "./candidates.ts";
import { inParts } from "./change-parts.ts";
import { type Batch, historyOf, nonsense, transactionsFrom } from "./fetch-blocks.ts";
import { RECENT_BLOCKS } from "./history.ts";
import type { BlocksChange, FromWorker, ScanTask } from "./messages.ts";
import { type PackedTransactions, packTransactions, type RawTransaction } from "./raw-transaction.ts";
import { readKeys, type Sifted, siftInSteps, type TransactionKeys } from "./sift.ts";

/** Blocks as a wallet has scanned them; those in which it has nothing are the same object for many wallets. */
export class ScannedBlocks {
  readonly change: BlocksChange;
  /** Number of blocks the node has. */
  readonly targetHeight: number;
  #message: BlocksMessage | undefined;
  #history: readonly Uint8Array[] | undefined;

  constructor(change: BlocksChange, targetHeight: number) {
    this.change = change;
    this.targetHeight = targetHeight;
  }

  /** With what a scan goes on behind them: one object for all wallets that have the same first block of all. */
  historyFrom(genesis: Uint8Array): readonly Uint8Array[] {
    if (this.#history?.at(-1) !== genesis) this.#history = historyOf(this.change.ids, genesis);
    return this.#history;
  }

  /** The message that reports them, encoded once. */
  get message(): BlocksMessage {
    const { change, targetHeight } = this;
    this.#message ??= { kind: "blocks", change: encodeChange(change), targetHeight };
    return this.#message;
  }
}

type BlocksMessage = Extract<FromWorker, { kind: "blocks" }>;

/** Threads that run the first half of scanning. */
export type SiftThreads = {
  readonly count: number;
  /** Sifts for each view secret (32 bytes each, concatenated); resolves with undefined if the thread failed. */
  readonly sift: (
    transactions: PackedTransactions,
    viewSecrets: Uint8Array<ArrayBuffer>,
  ) => Promise<readonly Sifted[] | undefined>;
};

/** A wallet that scans. */
export interface Follower {
  readonly context: ScanContext;
  readonly task: Pick<ScanTask, "history" | "startHeight" | "fromHeight" | "height">;
  /** If left out, everything runs in this thread. */
  readonly threads?: SiftThreads | undefined;
  /** True once it takes no more blocks. */
  readonly isGone: boolean;
  /** Resolves once it can take more; undefined if it can at once. */
  whenReady(): Promise<void> | undefined;
  take(scanned: ScannedBlocks): void;
}

/** A follower of a walk: it receives the blocks from a height on. */
export type Seat = { readonly follower: Follower; readonly from: number };

/** A wallet with its view secret. */
type Secretive = { readonly context: Pick<ScanContext, "keys"> };

/**
 * Maximum number of wallets for which outputs are sifted at once: as many share each key's multiples. Fewer if memory
 * requires: each output that has no view tag passes for every wallet.
 */
const SECRETS_AT_ONCE = 2048;
const PASSING_BYTES = 64 * 1024 * 1024;
/** Of an output that passes, with what describes it. */
const BYTES_PER_PASSING = 400;
/** One of so many outputs with a view tag passes by chance. */
const VIEW_TAGS = 256;

/** For how many wallets these keys are sifted at once. */
export function secretsAtOnce({ viewTags }: TransactionKeys): number {
  let passing = viewTags.length / VIEW_TAGS;
  for (const viewTag of viewTags) if (viewTag === NO_VIEW_TAG) passing += 1;
  return Math.max(
    1,
    Math.min(SECRETS_AT_ONCE, Math.floor(PASSING_BYTES / (BYTES_PER_PASSING * (passing + 1)))),
  );
}
/** With more wallets than these a walk gets no help: the other scan threads have as many of their own. */
const MAX_WITH_HELP = 128;
/** Number of wallets in one job of another thread: enough to share each key's multiples, few enough to end soon. */
const WALLETS_PER_JOB = 32;
/** Up to this many wallets are one job, whatever the transactions: these need not be parsed here to divide it. */
const FEW = 8;

/** The part of a piece that a group of followers scans. */
type View = { readonly fromHeight: number; readonly skipsCoinbase: boolean; readonly seats: Seat[] };

/** The transactions of a view, parsed once. */
class ReadView {
  readonly transactions: readonly RawTransaction[];
  #keys: TransactionKeys | undefined;

  constructor(piece: Batch, { fromHeight, skipsCoinbase }: View) {
    this.transactions = transactionsFrom(piece, fromHeight, { skipsCoinbase });
  }

  /** Public keys of the transactions. Throws `BadBytes`. */
  get keys(): TransactionKeys {
    this.#keys ??= readKeys(this.transactions);
    return this.#keys;
  }

  /** Throws if the number of outputs that the node reported is not that of the transactions. */
  check({ outputCounts }: Pick<Sifted, "outputCounts">): void {
    if (this.transactions.some(({ globalIndices }, i) => globalIndices.length !== outputCounts[i]))
      throw nonsense("a transaction without all of its output indices");
  }
}

/** A piece whose first half runs in another thread, or will run here. */
export class Begun {
  readonly piece: Batch;
  readonly #views = new Map<string, ReadView>();
  /** The same blocks, by the height of the first, for wallets that have nothing in them. */
  readonly #quiet = new Map<number, readonly ScannedBlocks[]>();
  readonly #siftResults: Promise<Map<Follower, Sifted>>;

  constructor(piece: Batch, seats: readonly Seat[], threads: SiftThreads | undefined) {
    this.piece = piece;
    this.#siftResults = this.#begin(seats, threads);
    void this.#siftResults.catch(() => undefined); // `finish` reports the error
  }

  async #begin(seats: readonly Seat[], threads: SiftThreads | undefined): Promise<Map<Follower, Sifted>> {
    const siftResults = new Map<Follower, Sifted>();
    const views = viewsOf(this.piece, seats);
    for (const view of views) this.#read(view);
    if (threads === undefined || seats.length > MAX_WITH_HELP) return siftResults;
    await Promise.all(
      views.flatMap((view) => {
        const read = this.#read(view);
        const packed = packTransactions(read.transactions);
        const perJob = view.seats.length <= FEW ? FEW : Math.min(WALLETS_PER_JOB, secretsAtOnce(read.keys));
        return groupsOf(followersOf(view.seats), perJob).map(async (followers) => {
          const some = await threads.sift(packed, secretsOf(followers));
          for (const [i, follower] of followers.entries())
            if (some?.[i] !== undefined) siftResults.set(follower, some[i]);
        });
      }),
    );
    return siftResults;
  }

  #read(view: View): ReadView {
    const name = `${view.fromHeight} ${view.skipsCoinbase}`;
    const read = this.#views.get(name) ?? new ReadView(this.piece, view);
    this.#views.set(name, read);
    return read;
  }

  /**
   * Passes each follower its change; `fail` receives an error that concerns one follower. Throws an error that concerns
   * all.
   */
  async finish(seats: readonly Seat[], fail: (seat: Seat, error: unknown) => void): Promise<void> {
    const early = await this.#siftResults;
    for (const view of viewsOf(this.piece, seats)) {
      const read = this.#read(view);
      const late = view.seats.filter(({ follower }) => !early.has(follower));
      const give = (seat: Seat, siftResult: Sifted) => {
        if (seat.follower.isGone) return;
        try {
          for (const scanned of this.#scannedBy(seat, read, siftResult))
            if (!seat.follower.isGone) seat.follower.take(scanned);
        } catch (error) {
          fail(seat, error);
        }
      };
      for (const seat of view.seats) {
        const siftResult = early.get(seat.follower);
        if (siftResult === undefined) continue;
        read.check(siftResult);
        give(seat, siftResult);
      }
      const atOnce = late.length === 0 ? 1 : secretsAtOnce(read.keys);
      for (let at = 0; at < late.length; at += atOnce) {
        const some = late.slice(at, at + atOnce).filter(({ follower }) => !follower.isGone);
        if (at > 0) await setImmediate();
        read.check(read.keys);
        const siftResults = await siftHere(followersOf(some), read.keys);
        for (const [i, seat] of some.entries()) give(seat, siftResults[i]!);
      }
    }
  }

  #scannedBy({ follower, from }: Seat, read: ReadView, siftResult: Sifted): readonly ScannedBlocks[] {
    const transactions = pickOwn(follower.context, read.transactions, siftResult);
    if (transactions.length > 0) return this.#blocksFrom(from, transactions);
    const first = Math.max(from, this.piece.blocks[0]!.height);
    const quiet = this.#quiet.get(first) ?? this.#blocksFrom(first, []);
    this.#quiet.set(first, quiet);
    return quiet;
  }

  #blocksFrom(from: number, transactions: readonly ScannedTransaction[]): readonly ScannedBlocks[] {
    const { answer } = this.piece;
    const blocks = this.piece.blocks.filter(({ height }) => height >= from);
    const last = blocks.at(-1)!;
    const isFarBehind = answer.current_height - last.height > RECENT_BLOCKS;
    const change: BlocksChange = {
      kind: "blocks",
      fromHeight: blocks[0]!.height,
      count: blocks.length,
      ids: blocks.map(({ id }) => id),
      lastBlockReward: last.reward,
      transactions,
    };
    const parts = [...inParts(change, isFarBehind)];
    return parts.map((part) => new ScannedBlocks(part, answer.current_height));
  }
}

/** Sifts the transactions for each wallet, and yields to the event loop between steps. */
export async function siftHere(wallets: readonly Secretive[], keys: TransactionKeys): Promise<Sifted[]> {
  const secrets = secretsOf(wallets);
  try {
    const steps = siftInSteps(secrets, keys);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      await setImmediate();
    }
  } finally {
    wipe(secrets);
  }
}

/** View secrets, 32 bytes each; the caller wipes them. */
function secretsOf(wallets: readonly Secretive[]): Uint8Array<ArrayBuffer> {
  const secrets = new Uint8Array(32 * wallets.length);
  for (const [i, { context }] of wallets.entries()) secrets.set(context.keys.viewSecret, 32 * i);
  return secrets;
}

function groupsOf<T>(items: readonly T[], most: number): T[][] {
  const groups: T[][] = [];
  for (let at = 0; at < items.length; at += most) groups.push(items.slice(at, at + most));
  return groups;
}

const followersOf = (seats: readonly Seat[]): Follower[] => seats.map(({ follower }) => follower);

/** Groups the followers by what they scan: most scan all of the piece, or nothing yet. */
function viewsOf(piece: Batch, seats: readonly Seat[]): View[] {
  const [first, last] = [piece.blocks[0]!.height, piece.blocks.at(-1)!.height];
  const views = new Map<string, View>();
  for (const seat of seats) {
    if (seat.follower.isGone || seat.from > last) continue;
    const { skipsCoinbase } = seat.follower.context;
    const start = Math.max(seat.from, seat.follower.task.fromHeight);
    const fromHeight = Math.min(Math.max(first, start), last + 1);
    const name = `${fromHeight} ${skipsCoinbase}`;
    const view = views.get(name) ?? { fromHeight, skipsCoinbase, seats: [] };
    view.seats.push(seat);
    views.set(name, view);
  }
  return [...views.values()];
}
