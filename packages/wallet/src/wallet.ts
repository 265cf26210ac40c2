/** One open wallet: its state, the order in which it changes, its keys while it is open, and the node behind it. */
import { toHex } from "@anulo/protocol";
import { sendUnseen } from "./actions/send-again.ts";
import { CachedFacts } from "./cached-facts.ts";
import { itemsOfChange, itemsOfState, undoneFrom, type WalletChange } from "./changes.ts";
import type { Daemon } from "./daemon.ts";
import { applyTold, type Follower } from "./events/follower.ts";
import type { ChangeLog } from "./file/store.ts";
import { IntentBook } from "./intents/book.ts";
import { AddressCache } from "./keys/addresses.ts";
import { type Ledger, lastAddresses, outputWithImage, wipeSecrets } from "./ledger/ledger.ts";
import { QuietBlocks } from "./ledger/quiet-blocks.ts";
import { accountOfKeys, wipeKeys } from "./multisig/account-keys.ts";
import type { MultisigAccount } from "./multisig/key-exchange.ts";
import { DEFAULT_PREFERENCES, type Preferences } from "./preferences.ts";
import { refuseUnwritten, WalletRefusal } from "./refusal.ts";
import type { Runtime } from "./runtime.ts";
import type { SingleTransaction } from "./scan/messages.ts";
import type { ScanProgress } from "./scan/progress.ts";
import type { Lookahead, SubaddressTable } from "./scan/subaddress-table.ts";
import type {
  NetworkName,
  OwnedOutput,
  ScanSettings,
  SubaddressIndex,
  WalletKeys,
  WalletState,
} from "./state.ts";
import { KeptOutputCounts } from "./transfer/output-counts.ts";
import { TaskQueue } from "./turns.ts";
import { isUnlocked, isUnspent, type Now, waitsForTime } from "./unlock.ts";
import { type RefreshResult, type ScanOptions, WalletScans } from "./wallet-scans.ts";

export type WalletParts = ScanOptions & {
  readonly keys: WalletKeys;
  readonly log: ChangeLog;
  readonly daemon: Daemon;
  readonly runtime: Runtime;
  readonly preferences?: Preferences;
  /** Told what changes mean, from the ledger as it is on. */
  readonly events?: Follower | undefined;
};

/** What readers see besides the state. */
type Moment = { readonly seconds: number };

/** State as everybody but `commit` sees it. */
export type ReadonlyState = Readonly<WalletState>;

export class Wallet {
  preferences: Preferences;
  /** What is made of its state for those who read it. */
  readonly facts: CachedFacts = new CachedFacts(() => this.moment);
  /** Threads, clock and randomness, lent by whoever opened it. */
  readonly runtime: Runtime;
  readonly intents: IntentBook;
  #daemon: Daemon;
  #outputCounts = new KeptOutputCounts();
  readonly #ledger: Ledger;
  readonly #log: ChangeLog;
  readonly #events: Follower | undefined;
  readonly #addresses: AddressCache;
  #keys: WalletKeys;
  readonly #spending = new TaskQueue();
  readonly #scans: WalletScans;
  #closed = false;
  /** Why a change could not be kept. */
  #unwritten: { readonly error: unknown } | undefined;
  #moment: Moment = { seconds: 0 };
  #hasChanged = true;
  #changes = 0;
  /** Whether any item has an unlock time that is a time, not a height. */
  #isTimed: boolean;

  constructor(parts: WalletParts) {
    const { keys, ledger, log, daemon } = parts;
    this.#keys = keys;
    this.preferences = parts.preferences ?? DEFAULT_PREFERENCES;
    this.#daemon = daemon;
    this.runtime = parts.runtime;
    this.#ledger = ledger;
    this.intents = new IntentBook(ledger);
    this.#log = new QuietBlocks(log, ledger);
    this.#events = parts.events;
    this.#addresses = new AddressCache(keys, ledger.state.network);
    this.#isTimed = itemsOfState(ledger.state).some(waitsForTime);
    this.#scans = new WalletScans(this, parts);
  }

  /** Its spend secret is absent while the wallet scans in the background. */
  get keys(): WalletKeys {
    return this.#keys;
  }

  /** The node; a transfer asks it for decoys and gives it transactions. */
  get daemon(): Daemon {
    return this.#daemon;
  }

  /** How many outputs the blocks of this node's chain brought, kept for the next transfer. */
  get outputCounts(): KeptOutputCounts {
    return this.#outputCounts;
  }

  /** Goes on with another node, or another connection; the one before is closed. */
  useDaemon(daemon: Daemon): void {
    this.#daemon.close();
    this.#daemon = daemon;
    this.#outputCounts = new KeptOutputCounts();
  }

  get state(): ReadonlyState {
    return this.#ledger.state;
  }

  get network(): NetworkName {
    return this.#ledger.state.network;
  }

  /** Blocks scanned; the height of the next one. */
  get height(): number {
    return this.#ledger.state.height;
  }

  /** Progress of the scan under way, once it can be estimated. */
  get progress(): ScanProgress | undefined {
    return this.#scans.progress;
  }

  /** Whether any block has been scanned: what the wallet owns is then known from the chain. */
  get hasScanned(): boolean {
    return this.height > 1;
  }

  get isViewOnly(): boolean {
    return this.keys.spendSecret === undefined && !this.isBackgroundSyncing;
  }

  /** Whether the spend secret is away: spends of outputs found meanwhile are recognised once it is back. */
  get isBackgroundSyncing(): boolean {
    return this.state.background !== undefined;
  }

  /** The settings that decide what a scan finds. */
  get scanSettings(): ScanSettings {
    const { refreshFromHeight } = this.state.settings;
    return {
      refreshFromHeight,
      skipsCoinbase: this.preferences.skipsCoinbase,
      ...this.#scans.table.lookahead,
    };
  }

  /** This signer's side of a wallet that several share; undefined in an ordinary one. */
  get multisig(): MultisigAccount | undefined {
    return accountOfKeys(this.keys);
  }

  /** Network, height and time, as the unlock rules need them. */
  now(): Now {
    return { network: this.network, height: this.height, seconds: this.runtime.clock() };
  }

  /**
   * Identifies the wallet's present state, without the addresses it recognises: the same object while nothing has
   * changed, another one afterwards.
   */
  get moment(): object {
    const seconds = this.#isTimed ? this.runtime.clock() : 0;
    if (this.#hasChanged || seconds !== this.#moment.seconds) this.#moment = { seconds };
    this.#hasChanged = false;
    return this.#moment;
  }

  /** Text of one of this wallet's addresses, whether in use or not. */
  addressOf(index: SubaddressIndex): string {
    return this.#addresses.addressOf(index);
  }

  /** How many addresses the wallet recognises, its look-ahead included: never fewer than before. */
  get reach(): number {
    return this.#scans.table.size;
  }

  /** Computes many addresses ahead of calls of `addressOf`, letting others run in between. */
  async prepareAddresses(indices: Iterable<SubaddressIndex>): Promise<void> {
    await this.#addresses.prepare(indices);
  }

  /** Index of an address of this wallet, its look-ahead included; undefined for others and for what is no address. */
  indexOf(address: string): SubaddressIndex | undefined {
    const spendPublic = this.#addresses.spendKeyOf(address);
    return spendPublic === undefined ? undefined : this.indexOfSpendKey(spendPublic);
  }

  indexOfSpendKey(spendPublic: Uint8Array): SubaddressIndex | undefined {
    return this.#scans.table.indexOf(spendPublic);
  }

  /** How many changes were made since the wallet was opened. */
  get changes(): number {
    return this.#changes;
  }

  /** Every address that is recognised; whole once the wallet is ready. */
  get subaddresses(): SubaddressTable {
    return this.#scans.table;
  }

  /** Settles once every address in use, and the look-ahead, can be recognised. */
  async whenReady(): Promise<void> {
    await this.#scans.ready;
  }

  /** The owned output with this key image (32 bytes). */
  outputOf(keyImage: Uint8Array): OwnedOutput | undefined {
    return outputWithImage(this.#ledger, toHex(keyImage));
  }

  /** Outputs that can be spent now: unspent, unlocked, not frozen, and (unless view-only) with a known key image. */
  spendableOutputs(): OwnedOutput[] {
    const now = this.now();
    return this.state.outputs.filter(
      (output) =>
        isUnspent(output) &&
        !output.frozen &&
        (this.isViewOnly || output.keyImage !== undefined) &&
        isUnlocked(output, now),
    );
  }

  /**
   * Makes a change and answers once it survives a crash. The state moves at once, so that two callers never
   * build on the same past; when the change can't be kept this rejects, and so does every later change until the
   * wallet is opened again.
   */
  async commit(change: WalletChange, encoded?: Uint8Array): Promise<void> {
    if (this.#closed) throw new WalletRefusal("NOT_OPEN", "No wallet file");
    this.checkWritten();
    const meaning = applyTold(this.#ledger, change, this.#events);
    this.#hasChanged = true;
    this.#changes += 1;
    this.#isTimed ||= itemsOfChange(change).some(waitsForTime);
    try {
      await this.#log.append(change, encoded).catch(refuseUnwritten);
    } catch (error) {
      this.#unwritten ??= { error };
      throw error;
    }
    if (this.#events !== undefined) await this.#events.keepSoon(meaning);
  }

  /** Throws where a change could not be kept: nothing may leave that rests on what is in memory alone. */
  checkWritten(): void {
    if (this.#unwritten !== undefined) throw this.#unwritten.error;
  }

  /** Changes that must not interleave (choosing outputs and recording their spending) take turns here. */
  exclusively<T>(task: () => Promise<T>): Promise<T> {
    return this.#spending.run(task);
  }

  /** The node took it. */
  markRelayed(txHash: Uint8Array): Promise<void> {
    return this.commit({ kind: "outgoingState", txHash: toHex(txHash), state: "pending" });
  }

  /** A new account; answers its index once money sent there is found. */
  async createAccount(label: string): Promise<number> {
    const major = this.state.accounts.length;
    await this.commit({ kind: "newAccount", label });
    await this.#scans.cover({ major, minor: 0 });
    return major;
  }

  /** New addresses; answers their indices once money sent there is found. */
  async createAddresses(account: number, label: string, count: number): Promise<number[]> {
    const first = this.state.accounts[account]!.addresses.length;
    await this.commit({ kind: "newAddress", account, label, count });
    await this.#scans.cover({ major: account, minor: first + count - 1 });
    return Array.from({ length: count }, (_, i) => first + i);
  }

  /** Takes outputs a view-only copy found; money sent to their addresses is found from now on. */
  async importOutputs(change: Extract<WalletChange, { kind: "importedOutputs" }>): Promise<void> {
    await this.commit(change);
    const images = change.outputs.flatMap(({ keyImage }) => (keyImage === undefined ? [] : [keyImage]));
    this.#scans.learn(images);
    for (const index of lastAddresses(change.outputs)) await this.#scans.cover(index);
  }

  /** Has money found that is sent to any address in use, whoever has brought it in use. */
  async coverAll(): Promise<void> {
    for (const [major, { addresses }] of this.state.accounts.entries())
      await this.#scans.cover({ major, minor: addresses.length - 1 });
  }

  /** Has money found that is sent so far beyond the addresses in use; what was recognised before stays so. */
  async setLookahead(lookahead: Lookahead): Promise<void> {
    await this.#scans.cover({ major: 0, minor: 0 }, lookahead);
    await this.coverAll();
  }

  /** Takes key images (32 bytes) that another wallet made; their spends are recognised from now on. */
  async learnKeyImages(
    change: Extract<WalletChange, { kind: "keyImages" | "coldKeyImages" }>,
  ): Promise<void> {
    await this.commit(change);
    this.#scans.learn("keyImages" in change ? change.keyImages : change.images.map((it) => it.keyImage));
  }

  /** Runs a task while nothing is scanned and nothing is spent. */
  whileUnchanged<T>(task: () => Promise<T>): Promise<T> {
    return this.#scans.inTurn(() => this.exclusively(task));
  }

  /** Scans with these keys from now on, wiped when the wallet closes: the thread that had others forgets them. */
  scanWith(keys: WalletKeys): Promise<void> {
    return this.#scans.restart(() => {
      this.#keys = keys;
    });
  }

  /**
   * Scans the new blocks and the pool, then sends again what the node may not have. Calls take turns. Throws
   * `WalletRefusal` when the node doesn't answer.
   */
  async refresh(startHeight = 0): Promise<RefreshResult> {
    const scan = () => this.#scans.refresh(startHeight, this.#events?.waitsForScan);
    const result = await this.#scans.inTurn(scan);
    const passed = this.#events?.timePassed(this.runtime.clock());
    if (passed !== undefined) await this.commit(passed);
    await sendUnseen(this, this.#spending);
    return result;
  }

  /** Looks at single transactions of the chain, and at the pool. */
  scanTransactions(entries: readonly SingleTransaction[]): Promise<void> {
    return this.#scans.inTurn(async () => {
      const transactions = await this.#scans.look(entries);
      if (transactions.length > 0) await this.commit({ kind: "transactions", transactions });
    });
  }

  /** Forgets what came from the chain and scans again; `hard` also forgets transaction keys and, unless they are kept, notes. */
  rescan(options: { readonly hard: boolean; readonly keepsNotes: boolean }): Promise<RefreshResult> {
    return this.#scans.inTurn(async () => {
      // What is forgotten can only be fetched again from a node that answers.
      await this.daemon.getHeight();
      await this.commit({ kind: "reset", ...options });
      return await this.#scans.refresh(0);
    });
  }

  /** Undoes every block from `height` on and scans them again. Throws `WalletRefusal` when the node doesn't answer. */
  scanAgain(height: number): Promise<RefreshResult> {
    return this.#scans.inTurn(async () => {
      await this.commit(undoneFrom(height, this.state));
      return await this.#scans.refresh(0);
    });
  }

  /** Undoes every block from `height` on, for the next scan to look at again. */
  undoBlocks(height: number): Promise<void> {
    return this.#scans.inTurn(() => this.commit(undoneFrom(height, this.state)));
  }

  /**
   * Looks at the pool for incoming payments. While a scan is under way, or the node doesn't answer, what was last
   * seen stays: history can be read at any time.
   */
  async refreshPool(): Promise<void> {
    if (!this.isBackgroundSyncing) await this.#scans.refreshPool();
  }

  /** Refuses the scan under way and those to come; what has been scanned is kept. */
  endScans(reason?: WalletRefusal): void {
    this.#scans.end(reason);
  }

  /** Ends the scan under way and waits for that and for payments. Nothing more is scanned. */
  async settle(): Promise<void> {
    this.endScans(new WalletRefusal("NOT_OPEN", "No wallet file"));
    await Promise.all([this.#scans.whenIdle(), this.#spending.whenIdle()]);
  }

  /** Waits for what is under way, closes the files, wipes the secrets. */
  async close(): Promise<void> {
    await this.#scans.stop();
    await Promise.all([this.#scans.whenIdle(), this.#spending.whenIdle()]);
    this.#closed = true;
    try {
      await this.#events?.close();
      await this.#log.close();
    } finally {
      wipeKeys(this.#keys);
      wipeSecrets(this.state);
    }
  }
}
