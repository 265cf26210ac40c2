/** The scans of one open wallet: its scanner, the order in which scans run, and how their results enter the ledger. */
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { blockId, equalBytes, genesisBlock, networks, toHex } from "@anulo/protocol";
import {
  isRestOfBlock,
  undoneBy,
  undoneFrom,
  undonePart,
  type WalletChange,
  withoutMissing,
} from "./changes.ts";
import type { Daemon } from "./daemon.ts";
import {
  incomingFromPool,
  isPoolQuiet,
  outgoingFromPool,
  ownInPool,
  spendsFromPool,
  withoutMined,
} from "./ledger/apply-pool.ts";
import type { Ledger } from "./ledger/ledger.ts";
import type { OutputBook } from "./outputs/output-book.ts";
import type { SubaddressIndex } from "./outputs/owned-output.ts";
import type { Preferences } from "./preferences.ts";
import { WalletRefusal } from "./refusal.ts";
import type { Runtime } from "./runtime.ts";
import type { Lookahead, RecognisedAddresses } from "./scan/address-runs.ts";
import { partsOfBlock, undoneInParts } from "./scan/change-parts.ts";
import { missingIn } from "./scan/found-ahead.ts";
import { shortHistory, trimKnown } from "./scan/history.ts";
import type { KeptMarks } from "./scan/kept-marks.ts";
import type { BlocksChange, PoolSnapshot, ScanTask, SingleTransaction } from "./scan/messages.ts";
import { ProgressMeter, type ScanProgress } from "./scan/progress.ts";
import { Scanner } from "./scan/scanner.ts";
import { DEFAULT_LOOKAHEAD } from "./scan/subaddress-table.ts";
import { watchedOutputs } from "./scan/watched-outputs.ts";
import type { Signer } from "./signer/signer.ts";
import type { ScannedTransaction } from "./state.ts";
import { TaskQueue } from "./turns.ts";

/** The current properties of the wallet that scans use. */
export type ScannedWallet = {
  readonly signer: Pick<Signer, "scanningKeys">;
  readonly daemon: Daemon;
  readonly preferences: Pick<Preferences, "skipsCoinbase">;
  readonly runtime: Runtime;
  /** Applies a change and resolves once it is durable. */
  commit(change: WalletChange, encoded?: Uint8Array): Promise<void>;
};

export type ScanOptions = {
  readonly ledger: Ledger;
  /** A reorganisation that undoes more blocks than this is refused. */
  readonly maxReorgDepth?: number;
  readonly lookahead?: Lookahead;
  /** What the wallet recognised its addresses by when it was open before. */
  readonly keptMarks?: KeptMarks | undefined;
  /** Called with the id (hex) of each transaction that pays the wallet, once in the pool and once in a block. */
  readonly onReceived?: (txid: string) => void;
};

export type RefreshResult = { readonly blocksFetched: number; readonly receivedMoney: boolean };

/** How blocks arrived, and how many the node has. */
type Arrived = { readonly encoded: Uint8Array; readonly targetHeight: number };

/** Source: wallet2.cpp m_max_reorg_depth, ORPHANED_BLOCKS_MAX_COUNT. */
const MAX_REORG_DEPTH = 100;

/** Transactions that one change undoes. */
const MISSING_PER_CHANGE = 256;

/** The hashes of the known key images of outputs, and of others, some hundred at a time. */
function* imageHashesOf(
  outputs: OutputBook,
  others: ReadonlyMap<string, Uint8Array>,
): Generator<Uint32Array> {
  for (const image of others.values()) yield outputs.images.hashing.all(image);
  yield* outputs.images.all();
}

export class WalletScans {
  readonly #wallet: ScannedWallet;
  readonly #ledger: Ledger;
  readonly #maxReorgDepth: number;
  readonly #onReceived: (txid: string) => void;
  #scanner: Scanner;
  readonly #turns = new TaskQueue();
  #blocksFetched = 0;
  /** First height at which the scan under way examines transactions. */
  #scannedFrom = 0;
  #isScanning = false;
  /** Resolves once the blocks that are being stored are. */
  #keeping: Promise<void> | undefined;
  #end: WalletRefusal | undefined;
  readonly #meter = new ProgressMeter();
  /** Id of the network's first block, computed for the first scan. */
  #genesis: Uint8Array | undefined;

  constructor(wallet: ScannedWallet, options: ScanOptions) {
    this.#wallet = wallet;
    this.#ledger = options.ledger;
    this.#maxReorgDepth = options.maxReorgDepth ?? MAX_REORG_DEPTH;
    this.#onReceived = options.onReceived ?? (() => undefined);
    this.#scanner = this.#startScanner(options.lookahead ?? DEFAULT_LOOKAHEAD, options.keptMarks);
    wallet.runtime.heights.note(this, this.#ledger.state.height);
  }

  #startScanner(lookahead: Lookahead, keptMarks?: KeptMarks): Scanner {
    const { signer, preferences, runtime } = this.#wallet;
    const { accounts, outputs, coldKeyImages, background } = this.#ledger.state;
    return new Scanner({
      runtime,
      keys: signer.scanningKeys,
      lookahead,
      keptMarks,
      skipsCoinbase: preferences.skipsCoinbase,
      used: accounts.map(({ addresses }, major) => ({ major, minor: addresses.length - 1 })),
      images: {
        factors: outputs.images.hashing.factors,
        hashes: imageHashesOf(outputs, coldKeyImages),
      },
      watched: background && watchedOutputs(outputs),
      keep: (change, from) => this.#keepInOrder(change, from),
    });
  }

  /** Spend public keys of the wallet, look-ahead included. */
  get table(): RecognisedAddresses {
    return this.#scanner.table;
  }

  /** Resolves once the table is complete for the addresses in use. */
  get ready(): Promise<unknown> {
    return this.#scanner.ready;
  }

  /** Progress of the scan under way, once it can be estimated. */
  get progress(): ScanProgress | undefined {
    return this.#meter.progress;
  }

  /**
   * Ensures that payments to `index`, and to the look-ahead beyond it, are found; `lookahead` changes the look-ahead
   * from now on.
   */
  cover(index: SubaddressIndex, lookahead?: Lookahead): Promise<void> {
    return this.#scanner.cover(index, lookahead);
  }

  /** Spends of these key images (32 bytes) are recognised from now on. */
  learn(keyImages: readonly Uint8Array[]): void {
    this.#scanner.learn(keyImages);
  }

  /** Runs a task while nothing is scanned, and no blocks of a scan that has ended are still to be stored. */
  inTurn<T>(task: () => Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      while (this.#keeping !== undefined) await this.#keeping.catch(() => undefined);
      if (this.#end !== undefined) throw this.#end;
      return await task();
    });
  }

  /** Makes the thread forget the keys it has, and starts a new scanner with those of today. */
  async restart(): Promise<void> {
    const { lookahead } = this.#scanner.table;
    await this.#scanner.stop();
    this.#scanner = this.#startScanner(lookahead);
  }

  /** Rejects the scan under way and all later ones; what has been scanned is kept. */
  end(reason: WalletRefusal = new WalletRefusal("NOT_OPEN", "The service is stopping")): void {
    this.#end ??= reason;
    this.#scanner.endScan(reason);
  }

  async stop(): Promise<void> {
    this.#wallet.runtime.heights.note(this, undefined);
    await this.#scanner.stop();
  }

  /** Resolves once every task added so far has ended. */
  whenIdle(): Promise<void> {
    return this.#turns.whenIdle();
  }

  /** Scans single transactions for outputs and spends of the wallet. */
  look(entries: readonly SingleTransaction[]): Promise<ScannedTransaction[]> {
    return this.#scanner.look(entries);
  }

  /**
   * Scans the new blocks and the pool; scans run one after the other. With `notesEnd`, a change records that all blocks
   * are scanned, before the pool is compared. Throws `WalletRefusal` if the node doesn't respond.
   */
  async refresh(startHeight: number, notesEnd = false): Promise<RefreshResult> {
    const { state } = this.#ledger;
    this.#blocksFetched = 0;
    const newest = state.outputs.at(state.outputs.count - 1)?.txHash;
    this.#isScanning = true;
    this.#meter.begin();
    try {
      const picture = await this.#scanner.scan(this.#scanTask(startHeight));
      if (notesEnd) await this.#wallet.commit({ kind: "pool", payments: [...state.pool], isScanned: true });
      if (picture !== undefined) {
        if (!isPoolQuiet(this.#ledger, picture)) await this.#applyPool(picture);
      } else for (const change of withoutMined(state)) await this.#wallet.commit(change);
    } finally {
      this.#isScanning = false;
      this.#meter.end();
      this.#wallet.runtime.longScans.end(this);
    }
    const last = state.outputs.at(state.outputs.count - 1)?.txHash;
    const receivedMoney = last !== undefined && (newest === undefined || !equalBytes(last, newest));
    return { blocksFetched: this.#blocksFetched, receivedMoney };
  }

  #scanTask(startHeight: number): ScanTask {
    const { state } = this.#ledger;
    const { recent, settings, height, network } = state;
    this.#genesis ??= blockId(genesisBlock(networks[network]));
    const fromHeight = Math.max(startHeight, settings.refreshFromHeight);
    this.#scannedFrom = fromHeight;
    const isFresh = recent.length === 0 || startHeight > height;
    return {
      daemon: this.#wallet.daemon.address,
      network,
      history: shortHistory(recent, this.#genesis),
      height,
      // Ids of some blocks below are requested too, so that a fork near the start can be undone.
      startHeight: isFresh ? Math.max(0, fromHeight - this.#maxReorgDepth) : 0,
      fromHeight,
      own: ownInPool(state),
    };
  }

  /**
   * Keeps blocks once those before them are stored, so that no turn of the event loop has the rows of more than one
   * change; begins in this turn where nothing is under way. What can't be kept refuses what waits for it.
   */
  async #keepInOrder(batch: BlocksChange, from: Arrived): Promise<void> {
    while (this.#keeping !== undefined) await this.#keeping;
    this.#keeping = this.#keep(batch, from);
    try {
      await this.#keeping;
    } finally {
      this.#keeping = undefined;
    }
  }

  async #keep(batch: BlocksChange, { encoded, targetHeight }: Arrived): Promise<void> {
    const { recent, height } = this.#ledger.state;
    // Blocks may still come when their scan has ended.
    if (this.#isScanning) this.#wallet.runtime.longScans.note(this, targetHeight - batch.fromHeight);
    const change = trimKnown(recent, batch);
    if (change.count === 0 && change.partId === undefined) return;
    if (change.restOfId !== undefined && !isRestOfBlock(change, this.#ledger.state))
      throw new Error("the rest of a block whose first transactions are not there");
    const undone = height - change.fromHeight;
    if (undone > this.#maxReorgDepth) {
      throw new WalletRefusal(
        "UNKNOWN_ERROR",
        `reorg exceeds maximum allowed depth: ${undone} blocks, at most ${this.#maxReorgDepth}`,
      );
    }
    const end = change.fromHeight + change.count;
    this.#blocksFetched += Math.max(0, end - Math.max(change.fromHeight, this.#scannedFrom));
    const undoneFromHeight = undoneBy(change, this.#ledger.state);
    if (undoneFromHeight < Number.POSITIVE_INFINITY)
      await this.undoDownTo(undoneFromHeight, { isReorganised: true });
    for (const undo of this.#undoMissing(change)) await this.#wallet.commit(undo);
    await this.#wallet.commit(change, change === batch ? encoded : undefined);
    this.#wallet.runtime.heights.note(this, end);
    this.#meter.advance(change.fromHeight, end, targetHeight);
    for (const { txHash, received } of change.transactions)
      if (received.length > 0) this.#onReceived(toHex(txHash));
  }

  /** The changes that undo what was found ahead in blocks that have come now, without it. */
  *#undoMissing(blocks: BlocksChange): Generator<BlocksChange> {
    const { state } = this.#ledger;
    // Without the spend secret less may be found.
    if (state.background !== undefined) return;
    const { skipsCoinbase } = this.#wallet.preferences;
    const missing = missingIn(blocks, state, { fromHeight: this.#scannedFrom, skipsCoinbase });
    for (let from = 0; from < missing.length; from += MISSING_PER_CHANGE)
      yield withoutMissing(missing.slice(from, from + MISSING_PER_CHANGE), state);
  }

  /**
   * Undoes blocks in parts, as far as they brought much: what remains from the height on is undone by the change that
   * follows. `isReorganised`: since the chain has others.
   */
  async undoDownTo(fromHeight: number, { isReorganised = false } = {}): Promise<void> {
    const { state } = this.#ledger;
    const toHeight = state.height + (state.partId.length > 0 ? 1 : 0);
    const commit = async (change: BlocksChange) => {
      await this.#wallet.commit({ ...change, ...(isReorganised && { isReorganised }) });
      await setImmediate();
    };
    for (const { height, isDivided } of undoneInParts(state.outputs, { fromHeight, toHeight })) {
      if (!isDivided) await commit(undoneFrom(height, state));
      else
        for (const undone of partsOfBlock(state.outputs, height))
          await commit(undonePart(height, undone, state));
    }
  }

  /** Scans the pool alone; does nothing if a scan is under way or the node doesn't respond. */
  async refreshPool(): Promise<void> {
    if (this.#isScanning) return;
    try {
      const { state } = this.#ledger;
      const { address: daemon } = this.#wallet.daemon;
      const picture = await this.#scanner.lookAtPool({
        daemon,
        network: state.network,
        own: ownInPool(state),
      });
      if (picture !== undefined) await this.#receiveFromPool(picture);
    } catch (error) {
      if (!(error instanceof WalletRefusal)) throw error;
    }
  }

  async #applyPool(picture: PoolSnapshot): Promise<void> {
    await this.#receiveFromPool(picture);
    for (const change of outgoingFromPool(this.#ledger, picture, this.#wallet.runtime.clock()))
      await this.#wallet.commit(change);
  }

  async #receiveFromPool(picture: PoolSnapshot): Promise<void> {
    const wallet = this.#wallet;
    const seconds = () => wallet.runtime.clock();
    for (const change of spendsFromPool(this.#ledger, picture, seconds())) await wallet.commit(change);
    const payments = incomingFromPool(this.#ledger, picture, seconds());
    // Copied, since the ledger changes its own list in place.
    const before = [...this.#ledger.state.pool];
    if (isDeepStrictEqual(payments, before)) return;
    await wallet.commit({ kind: "pool", payments });
    const previousIds = new Set(before.map(({ txHash }) => toHex(txHash)));
    const added = new Set(payments.map(({ txHash }) => toHex(txHash)).filter((id) => !previousIds.has(id)));
    for (const id of added) this.#onReceived(id);
  }
}
