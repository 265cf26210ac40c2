/** What a scan thread does for one of its wallets: all the slow parts of scanning. */

import { setImmediate } from "node:timers/promises";
import { wipe } from "@anulo/crypto";
import { BadBytes, BadHex, isMinerTransaction } from "@anulo/protocol";
import type { DaemonAddress } from "../daemon.ts";
import { KeyHashes, KeySet } from "../outputs/key-set.ts";
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import { LazyMap } from "../packed/lazy-map.ts";
import { WalletRefusal } from "../refusal.ts";
import type { NetworkName } from "../state.ts";
import type { AddressRange, MissingRange } from "./address-runs.ts";
import { type AddressTable, adoptAddresses, createAddresses, extendAddresses } from "./addresses.ts";
import { type ScanContext, scanTransactions } from "./candidates.ts";
import type { Follower, ScannedBlocks, SiftThreads } from "./followers.ts";
import type {
  FromWorker,
  PoolFind,
  PoolSnapshot,
  ScanTask,
  SingleTransaction,
  ToWorker,
} from "./messages.ts";
import type { NodeFeed, NodeFeeds } from "./node-feed.ts";
import { PoolScan } from "./pool-scan.ts";
import { type PackedTransactions, type RawTransaction, transactionOf } from "./raw-transaction.ts";
import type { Sifted } from "./sift.ts";

/** Batches sent to the wallet's thread before the worker waits: this limits memory with a fast node. */
const BATCHES_AHEAD = 2;
/** Keys computed before messages are processed again. */
const KEYS_PER_RANGE = 1000;

const NO_IDS = new Uint8Array();

/** Splits the ranges into parts of at most `KEYS_PER_RANGE` keys. */
function* rangesOf(missing: readonly MissingRange[]): Generator<AddressRange> {
  for (const { major, fromMinor, toMinor } of missing)
    for (let minor = fromMinor; minor < toMinor; minor += KEYS_PER_RANGE)
      yield { major, fromMinor: minor, count: Math.min(KEYS_PER_RANGE, toMinor - minor) };
}

/** Messages that expect a response. */
type Asking = Extract<ToWorker, { kind: "open" | "cover" | "scan" | "single" | "pool" }>;

/** Sends a message to the wallet; the buffers in `transfer` are transferred rather than copied. */
type Send = (message: FromWorker, transfer?: readonly ArrayBuffer[]) => void;

type OpenContext = ScanContext & { readonly table: AddressTable };

export class WalletScan {
  readonly #send: Send;
  readonly #feeds: NodeFeeds;
  #context: OpenContext | undefined;
  #pool: PoolScan | undefined;
  /** Resolves once the table is complete for the addresses in use. */
  #ready: Promise<void> = Promise.resolve();
  #feed: NodeFeed | undefined;
  /** The scan under way. */
  #following: { isGone: boolean } | undefined;
  #unkept = 0;
  #wake: (() => void)[] = [];
  #lastSiftId = 0;
  /** Callbacks that wait for results of other threads. */
  readonly #sifting = new LazyMap<number, (results: readonly Sifted[] | undefined) => void>();

  constructor(send: Send, feeds: NodeFeeds) {
    this.#send = send;
    this.#feeds = feeds;
  }

  receive(message: ToWorker): void {
    if (message.kind === "learn") this.#learn(message);
    else if (message.kind === "close") this.close();
    else if (message.kind === "sifted") this.#receiveSifted(message);
    else if (message.kind === "kept") this.#resume(this.#unkept - 1);
    else if (message.kind === "cancel") this.#cancel();
    else void this.#answer(message);
  }

  async #answer(message: Asking): Promise<void> {
    const id = message.kind === "open" ? 0 : message.id;
    try {
      const pool = await this.#do(message);
      this.#send(pool === undefined ? { kind: "done", id, pool } : this.#feeds.endOf(id, pool));
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (error instanceof WalletRefusal)
        this.#send({ kind: "failed", id, refusal: error.kind, message: text });
      else if (error instanceof BadBytes || error instanceof BadHex) {
        const explanation = `the node answered with bytes that can't be read: ${text}`;
        this.#send({ kind: "failed", id, refusal: "UNKNOWN_ERROR", message: explanation });
      } else this.#send({ kind: "failed", id, refusal: undefined, message: text });
    }
  }

  async #do(message: Asking): Promise<PoolSnapshot | undefined> {
    if (message.kind === "open") return await this.#open(message);
    if (message.kind === "scan") return await this.#scan(message.task, message.threads);
    await this.#ready;
    if (message.kind === "cover") return this.#coverMore(message);
    if (message.kind === "single") return { ids: NO_IDS, finds: this.#lookAt(message.entries) };
    return await this.#look(message);
  }

  async #open(message: Extract<ToWorker, { kind: "open" }>): Promise<undefined> {
    const { keys, skipsCoinbase, watched } = message;
    const knownImages = new KeySet(KeyHashes.of(message.imageFactors));
    const table = createAddresses(keys, message.lookahead, message.marks);
    for (const range of message.ranges) adoptAddresses(table, range, undefined);
    const parts = { keys, table, skipsCoinbase, watched };
    const cover = (index: SubaddressIndex) => this.#cover(parts, index);
    this.#context = { ...parts, knownImages, cover, keyImages: new Map() };
    this.#pool = new PoolScan(this.#context, this.#feeds.poolNumbers);
    this.#ready = this.#coverInTurns(this.#context, message.used);
    await this.#ready;
  }

  /** Computes many keys; in between, other wallets of the thread get their turns, and this one may be closed. */
  async #coverInTurns(context: OpenContext, used: readonly SubaddressIndex[]): Promise<void> {
    for (const index of used) {
      for (const range of rangesOf(context.table.missingFor(index))) {
        if (this.#context !== context) return;
        this.#addRange(context, range);
        await setImmediate();
      }
    }
  }

  #coverMore({ index, lookahead }: Extract<ToWorker, { kind: "cover" }>): undefined {
    if (this.#context !== undefined && lookahead !== undefined) this.#context.table.lookahead = lookahead;
    this.#context?.cover(index);
  }

  #cover({ keys, table }: Pick<OpenContext, "keys" | "table">, index: SubaddressIndex): void {
    for (const range of rangesOf(table.missingFor(index))) this.#addRange({ keys, table }, range);
  }

  #addRange({ keys, table }: Pick<OpenContext, "keys" | "table">, range: AddressRange): void {
    this.#send({ kind: "range", range, added: extendAddresses(table, keys, range) });
  }

  #learn({ keyImages, hashes }: Extract<ToWorker, { kind: "learn" }>): void {
    for (const keyImage of keyImages) this.#context?.knownImages.add(keyImage);
    for (const some of hashes) this.#context?.knownImages.addHashes(some);
    this.#pool?.forgetStrangers();
  }

  async #scan(task: ScanTask, count: number): Promise<PoolSnapshot | undefined> {
    const [context, pool] = [this.#context, this.#pool];
    if (context === undefined || pool === undefined) throw new Error("scan before open");
    const feed = this.#feedOf(task.daemon, task.network);
    const follower = this.#follower(context, task, count);
    this.#following = follower;
    await this.#ready;
    if (this.#context !== context) return undefined;
    // The pool is scanned first, so that a transaction mined in between is missed by neither scan.
    const picture = context.watched === undefined ? await feed.look({ pool, own: task.own }) : undefined;
    if (!follower.isGone) await feed.follow(follower);
    while (this.#unkept > 0 && !follower.isGone) await this.#whenKept();
    return follower.isGone ? undefined : picture && pool.withFound(picture);
  }

  #follower(context: ScanContext, first: ScanTask, count: number): Follower & { isGone: boolean } {
    const sift: SiftThreads["sift"] = (transactions, secrets) => this.#siftElsewhere(transactions, secrets);
    let task: Follower["task"] = first;
    const genesis = first.history.at(-1)!;
    return {
      context,
      get task() {
        return task;
      },
      threads: count > 1 ? { count, sift } : undefined,
      isGone: false,
      whenReady: () => (this.#unkept < BATCHES_AHEAD ? undefined : this.#whenKept()),
      take: (scanned) => {
        this.#takeBlocks(scanned);
        const { fromHeight, count: blocks } = scanned.change;
        if (blocks === 0) return; // a part of a block, after which a scan does not go on
        const position = { history: scanned.historyFrom(genesis), startHeight: 0 };
        task = { ...task, ...position, height: fromHeight + blocks };
      },
    };
  }

  #takeBlocks({ change, message }: ScannedBlocks): void {
    // Blocks without transactions of the wallet may be another's message too.
    const transfer = change.transactions.length === 0 ? [] : [message.change.buffer as ArrayBuffer];
    this.#send(message, transfer);
    this.#unkept += 1;
  }

  /** Resolves once one more batch was stored, or the wallet takes no more. */
  #whenKept(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #resume(unkept: number): void {
    this.#unkept = unkept;
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }

  #cancel(): void {
    if (this.#following !== undefined) this.#following.isGone = true;
    this.#resume(this.#unkept);
  }

  async #look({
    daemon,
    network,
    own,
  }: Extract<ToWorker, { kind: "pool" }>): Promise<PoolSnapshot | undefined> {
    const pool = this.#pool;
    if (pool === undefined) throw new Error("pool before open");
    return await this.#feedOf(daemon, network).look({ pool, own });
  }

  #lookAt(entries: readonly SingleTransaction[]): PoolFind[] {
    if (this.#context === undefined) throw new Error("single before open");
    const raw = entries.map((entry): RawTransaction => {
      const read = transactionOf(entry);
      return { ...entry, read, coinbase: isMinerTransaction(read) };
    });
    const finds = scanTransactions(this.#context, raw);
    return finds.map((transaction) => ({ transaction, doubleSpendSeen: false }));
  }

  /** Sends transactions to the wallet's thread, which has other threads sift them. */
  #siftElsewhere(
    transactions: PackedTransactions,
    viewSecrets: Uint8Array<ArrayBuffer>,
  ): Promise<readonly Sifted[] | undefined> {
    if (this.#context === undefined) return Promise.resolve(undefined);
    const id = ++this.#lastSiftId;
    this.#send({ kind: "sift", id, transactions, viewSecrets }, [viewSecrets.buffer]);
    return new Promise((resolve) => this.#sifting.set(id, resolve));
  }

  #receiveSifted({ id, results }: Extract<ToWorker, { kind: "sifted" }>): void {
    this.#sifting.get(id)?.(results);
    this.#sifting.delete(id);
  }

  #feedOf(address: DaemonAddress, network: NetworkName): NodeFeed {
    const feed = this.#feeds.take(address, network);
    if (this.#feed !== undefined) this.#feeds.giveBack(this.#feed);
    this.#feed = feed;
    return feed;
  }

  /** Forgets the wallet; its tasks under way end without a response. */
  close(): void {
    this.#cancel();
    this.#resume(0);
    wipe(this.#context?.keys.viewSecret, this.#context?.keys.spendSecret);
    this.#context = undefined;
    this.#pool?.close();
    this.#pool = undefined;
    if (this.#feed !== undefined) this.#feeds.giveBack(this.#feed);
    this.#feed = undefined;
    for (const settle of this.#sifting.values()) settle(undefined);
    this.#sifting.clear();
    this.#send({ kind: "closed" });
  }
}
