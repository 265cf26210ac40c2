/** The wallet's side of its scan thread. */
import { runSliced } from "@anulo/limits";
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import { type RefusalKind, WalletRefusal } from "../refusal.ts";
import type { ScannedTransaction } from "../state.ts";
import type { WorkThreads } from "../threads/work-threads.ts";
import type { Lookahead } from "./address-runs.ts";
import { type AddressTable, adoptAddresses, createAddresses, marksFor } from "./addresses.ts";
import type { KeptMarks } from "./kept-marks.ts";
import type {
  BlocksChange,
  FromWorker,
  PoolSnapshot,
  ScanTask,
  SingleTransaction,
  ToWorker,
} from "./messages.ts";
import type { ScanLine, ScanThreads } from "./scan-threads.ts";
import type { ScanKeys } from "./scan-transaction.ts";
import type { WatchedOutputs } from "./watched-outputs.ts";

export type ScannerParts = {
  readonly runtime: { readonly threads: WorkThreads; readonly scanThreads: ScanThreads };
  readonly keys: ScanKeys;
  /** The last address in use of every account. */
  readonly used: readonly SubaddressIndex[];
  readonly lookahead: Lookahead;
  /** The marks of addresses that were computed when the wallet was open before. */
  readonly keptMarks?: KeptMarks | undefined;
  /** Whether coinbase transactions are skipped. */
  readonly skipsCoinbase: boolean;
  /** Both hashes of each key image of the outputs already known, some at a time, and what they are made with. */
  readonly images: { readonly factors: Uint8Array; readonly hashes: Iterable<Uint32Array> };
  /** While the spend secret is not in memory: outputs without key image. The pool is not scanned then. */
  readonly watched: WatchedOutputs | undefined;
  /** Stores one batch; batches come in order and the next waits for this one. */
  readonly keep: (change: BlocksChange, from: { encoded: Uint8Array; targetHeight: number }) => Promise<void>;
};

/** Bytes of hashes that one message to the thread has at least, but for the last one. */
const HASH_BYTES_AT_ONCE = 128 * 1024;

type Waiting = { resolve: (pool: PoolSnapshot | undefined) => void; reject: (error: unknown) => void };

/** Id of the response which reports that the first table is complete. */
const OPENING = 0;
/** Id of the response to a scan: there is one at a time. */
const SCANNING = 1;
/** One object, so that it is copied once for many wallets. */
const KEPT: ToWorker = { kind: "kept" };

export class Scanner {
  /** Spend public keys of this wallet, look-ahead included. */
  readonly table: AddressTable;
  /** Resolves once the table is complete for the addresses in use. */
  readonly ready: Promise<unknown>;
  readonly #scanThreads: ScanThreads;
  readonly #line: ScanLine;
  #closed: () => void = () => undefined;
  readonly #threads: WorkThreads;
  readonly #keep: ScannerParts["keep"];
  readonly #waiting = new Map<number, Waiting>();
  #nextId = SCANNING + 1;
  #stopped: Error | undefined;
  #refusedBatch: Error | undefined;
  /** Resolves once the batches that have arrived are stored, or refused. */
  #keptBatches: Promise<void> = Promise.resolve();
  /** Resolves once the thread has the key images that were known; undefined if it has them already. */
  #imagesSent: Promise<void> | undefined;
  /** Why the scan that waits for that has ended. */
  #endBeforeStart: Error | undefined;

  constructor({ keep, runtime, images, keptMarks, ...parts }: ScannerParts) {
    const { keys, used, lookahead } = parts;
    const marks = keptMarks?.marks ?? marksFor(used, lookahead);
    const ranges = keptMarks?.ranges ?? [];
    this.table = createAddresses(keys, lookahead, marks);
    for (const range of ranges) adoptAddresses(this.table, range, undefined);
    this.#keep = keep;
    this.#threads = runtime.threads;
    this.#scanThreads = runtime.scanThreads;
    this.#line = this.#scanThreads.open({
      receive: (message) => this.#receive(message),
      onEnd: (error) => {
        this.#end(error);
        this.#closed();
      },
    });
    this.ready = this.#wait(OPENING);
    void this.ready.catch(() => undefined); // users of the table get the error there
    this.#send({ kind: "open", ...parts, marks, ranges, imageFactors: images.factors });
    const sent = runSliced(this.#sendImages(images.hashes));
    if (sent === undefined) return;
    this.#imagesSent = sent.then(() => {
      this.#imagesSent = undefined;
    });
    void this.#imagesSent.catch(() => undefined); // every scan gets the error
  }

  /** Sends the thread hashes of key images, in slices: they may have to be read from a store. */
  *#sendImages(hashes: Iterable<Uint32Array>): Generator<void, undefined> {
    let some: Uint32Array[] = [];
    let bytes = 0;
    for (const part of hashes) {
      if (part.length > 0) some.push(part);
      bytes += part.byteLength;
      if (bytes >= HASH_BYTES_AT_ONCE) {
        this.#send({ kind: "learn", keyImages: [], hashes: some });
        [some, bytes] = [[], 0];
      }
      yield;
    }
    if (bytes > 0) this.#send({ kind: "learn", keyImages: [], hashes: some });
  }

  /** Resolves once the thread knows what is needed for a scan; rejects if the scan was ended before. */
  async #whenImagesSent(): Promise<void> {
    this.#endBeforeStart = undefined;
    await this.#imagesSent;
    if (this.#endBeforeStart !== undefined) throw this.#endBeforeStart;
  }

  /**
   * Ensures that payments to `index`, and to the look-ahead beyond it, are found; `lookahead` changes the look-ahead
   * from now on.
   */
  async cover(index: SubaddressIndex, lookahead: Lookahead = this.table.lookahead): Promise<void> {
    this.table.lookahead = lookahead;
    const id = this.#nextId++;
    const done = this.#wait(id);
    this.#send({ kind: "cover", id, index, lookahead });
    await done;
  }

  /** Spends of these key images, 32 bytes each, are recognised from now on. */
  learn(keyImages: readonly Uint8Array[]): void {
    this.#send({ kind: "learn", keyImages, hashes: [] });
  }

  /**
   * Scans to the newest block; resolves with the wallet's part of the pool. One at a time. Throws `WalletRefusal` if
   * the node doesn't respond.
   */
  async scan(task: ScanTask): Promise<PoolSnapshot | undefined> {
    this.#refusedBatch = undefined;
    if (this.#imagesSent !== undefined) await this.#whenImagesSent();
    const done = this.#wait(SCANNING);
    this.#send(this.#scanThreads.scanMessage({ id: SCANNING, task, threads: this.#threads.most }));
    const picture = await done;
    if (this.#refusedBatch !== undefined) throw this.#refusedBatch;
    return picture;
  }

  /** Scans single transactions for outputs and spends of the wallet. */
  async look(entries: readonly SingleTransaction[]): Promise<ScannedTransaction[]> {
    if (this.#imagesSent !== undefined) await this.#whenImagesSent();
    const id = this.#nextId++;
    const done = this.#wait(id);
    this.#send({ kind: "single", id, entries });
    return ((await done)?.finds ?? []).map(({ transaction }) => transaction);
  }

  /** Scans the node's pool. */
  async lookAtPool(node: Pick<ScanTask, "daemon" | "network" | "own">): Promise<PoolSnapshot | undefined> {
    if (this.#imagesSent !== undefined) await this.#whenImagesSent();
    const id = this.#nextId++;
    const done = this.#wait(id);
    this.#send({ kind: "pool", id, ...node });
    return await done;
  }

  /** Ends the scan under way after its current batch. */
  cancel(): void {
    this.#send({ kind: "cancel" });
  }

  /** Rejects the scan under way with this error, at once; batches that have arrived already are still stored. */
  endScan(error: Error): void {
    this.cancel();
    this.#endBeforeStart = error;
    // It counts as under way until the worker reports its end.
    this.#waiting.get(SCANNING)?.reject(error);
  }

  /** Resolves once the thread has forgotten the wallet's secrets. */
  async stop(): Promise<void> {
    const hasThread = this.#stopped === undefined;
    const closed = new Promise<void>((resolve) => {
      this.#closed = resolve;
    });
    this.#send({ kind: "close" });
    this.#end(new WalletRefusal("NOT_OPEN", "No wallet file"));
    if (hasThread) await closed;
    this.#line.release();
  }

  #send(message: ToWorker): void {
    if (this.#stopped === undefined) this.#line.send(message);
  }

  #wait(id: number): Promise<PoolSnapshot | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#stopped === undefined) this.#waiting.set(id, { resolve, reject });
      else reject(this.#stopped);
    });
  }

  #receive(message: FromWorker): void {
    if (message.kind === "range") adoptAddresses(this.table, message.range, message.added);
    else if (message.kind === "closed") this.#closed();
    else if (message.kind === "sift") void this.#sift(message);
    else this.#scanThreads.turns.add(() => this.#receiveInTurn(message));
  }

  /** Processes the batches of a scan, and then its end, in order. */
  #receiveInTurn(message: Extract<FromWorker, { kind: "blocks" | "done" | "failed" }>): void {
    if (message.kind === "blocks") {
      if (this.#stopped !== undefined) return;
      const before = this.#keptBatches;
      this.#keptBatches = this.#keepBatch(message).then(() => before);
    } else if (message.id !== SCANNING) this.#settle(message);
    // What comes after a scan must find the ledger as it is then, also where the scan has failed behind some blocks.
    else void this.#keptBatches.then(() => this.#settle(message));
  }

  /** A batch that can't be stored ends the scan; batches that the worker sends before it is notified are dropped. */
  async #keepBatch(message: Extract<FromWorker, { kind: "blocks" }>): Promise<void> {
    const { change: encoded, targetHeight } = message;
    try {
      if (this.#refusedBatch === undefined)
        await this.#keep(this.#scanThreads.changeOf(message), { encoded, targetHeight });
    } catch (error) {
      this.#refusedBatch = error instanceof Error ? error : new Error(String(error));
      this.cancel();
    }
    this.#send(KEPT);
  }

  /** If no thread can sift the input, the worker does it itself, and finds the error in it. */
  async #sift({ id, ...input }: Extract<FromWorker, { kind: "sift" }>): Promise<void> {
    const results = await this.#threads
      .runLast("sift", input, [input.viewSecrets.buffer])
      .catch(() => undefined);
    this.#send({ kind: "sifted", id, results });
  }

  #settle(message: Extract<FromWorker, { kind: "done" | "failed" }>): void {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.kind === "done") waiting?.resolve(message.pool);
    else waiting?.reject(errorOf(message.refusal, message.message));
  }

  #end(error: Error): void {
    this.#stopped ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

function errorOf(refusal: RefusalKind | undefined, message: string): Error {
  return refusal === undefined ? new Error(message) : new WalletRefusal(refusal, message);
}
