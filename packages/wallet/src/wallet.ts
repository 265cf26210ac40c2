/** One open wallet: its state, the order in which it changes, its keys while it is open, and its node. */
import { toHex } from "@anulo/protocol";
import { sendUnseen } from "./actions/send-again.ts";
import { CachedFacts } from "./cached-facts.ts";
import { itemsOfChange, mayWaitForTime, undoneFrom, type WalletChange } from "./changes.ts";
import type { Daemon } from "./daemon.ts";
import { applyTold, type Follower } from "./events/follower.ts";
import type { ChangeLog } from "./file/store.ts";
import { refuseUnwritten } from "./file/unwritten.ts";
import { IntentBook } from "./intents/book.ts";
import { AddressCache } from "./keys/addresses.ts";
import { type Ledger, lastAddresses, wipeSecrets } from "./ledger/ledger.ts";
import { QuietBlocks } from "./ledger/quiet-blocks.ts";
import { TextRoom } from "./ledger/text-room.ts";
import { wipeKeys } from "./multisig/account-keys.ts";
import { waitsForTime } from "./outputs/locked-places.ts";
import type { SpendableQuestion } from "./outputs/output-page.ts";
import type { OwnedOutput, SubaddressIndex } from "./outputs/owned-output.ts";
import { DEFAULT_PREFERENCES, type Preferences } from "./preferences.ts";
import { WalletRefusal } from "./refusal.ts";
import type { Runtime } from "./runtime.ts";
import type { Lookahead, RecognisedAddresses } from "./scan/address-runs.ts";
import type { SingleTransaction } from "./scan/messages.ts";
import type { ScanProgress } from "./scan/progress.ts";
import { type Signer, signerOf } from "./signer/signer.ts";
import type { NetworkName, ScanSettings, ViewKeys, WalletKeys, WalletState } from "./state.ts";
import { KeptOutputCounts } from "./transfer/output-counts.ts";
import { TaskQueue } from "./turns.ts";
import { isUnlocked, type Now } from "./unlock.ts";
import { type RefreshResult, type ScanOptions, WalletScans } from "./wallet-scans.ts";

export type WalletParts = ScanOptions & {
  readonly keys: WalletKeys;
  readonly log: ChangeLog;
  readonly daemon: Daemon;
  readonly runtime: Runtime;
  readonly preferences?: Preferences;
  /** Receives the meaning of changes, derived from the current ledger. */
  readonly events?: Follower | undefined;
};

export class Wallet {
  preferences: Preferences;
  /** Results computed from the state, cached for its readers. */
  readonly facts: CachedFacts = new CachedFacts(() => this.moment);
  /** Threads, clock and randomness, owned by the opener of the wallet. */
  readonly runtime: Runtime;
  readonly intents: IntentBook;
  readonly texts: TextRoom;
  #daemon: Daemon;
  #outputCounts = new KeptOutputCounts();
  readonly #ledger: Ledger;
  readonly #log: QuietBlocks;
  readonly #events: Follower | undefined;
  readonly #addresses: AddressCache;
  #signer: Signer;
  readonly #spending = new TaskQueue();
  readonly #scans: WalletScans;
  #closed = false;
  /** The error of a change that could not be applied or stored: what is in memory is not what is on disk. */
  unwritten: { readonly error: unknown } | undefined;
  #moment: { readonly seconds: number } = { seconds: 0 };
  #hasChanged = true;
  #changes = 0;
  /** Whether any item is locked until a time rather than a height. */
  #isTimed: boolean;

  constructor(parts: WalletParts) {
    const { keys, ledger, log, daemon } = parts;
    this.#signer = signerOf(keys, ledger.state.background !== undefined);
    this.preferences = parts.preferences ?? DEFAULT_PREFERENCES;
    this.#daemon = daemon;
    this.runtime = parts.runtime;
    this.#ledger = ledger;
    this.intents = new IntentBook(ledger);
    this.texts = new TextRoom(ledger.state);
    this.#log = new QuietBlocks(log, ledger);
    this.#events = parts.events;
    this.#addresses = new AddressCache(keys, ledger.state);
    this.#isTimed = mayWaitForTime(ledger.state);
    this.#scans = new WalletScans(this, parts);
  }

  /** Who signs: chosen when the wallet is opened, and anew when its keys change. */
  get signer(): Signer {
    return this.#signer;
  }

  get keys(): ViewKeys {
    return this.#signer.keys;
  }

  /** The node; a transfer requests decoys from it and sends transactions to it. */
  get daemon(): Daemon {
    return this.#daemon;
  }

  /** Output counts of the blocks of this node's chain, cached for the next transfer. */
  get outputCounts(): KeptOutputCounts {
    return this.#outputCounts;
  }

  /** Switches to another node, or another connection; the previous one is closed. */
  useDaemon(daemon: Daemon): void {
    this.#daemon.close();
    this.#daemon = daemon;
    this.#outputCounts = new KeptOutputCounts();
  }

  /** The state as everything but `commit` sees it. */
  get state(): Readonly<WalletState> {
    return this.#ledger.state;
  }

  get network(): NetworkName {
    return this.#ledger.state.network;
  }

  /** Number of blocks scanned; the height of the next one. */
  get height(): number {
    return this.#ledger.state.height;
  }

  /** Progress of the scan under way, once it can be estimated. */
  get progress(): ScanProgress | undefined {
    return this.#scans.progress;
  }

  /** Whether any block has been scanned, so that the wallet's outputs are known from the chain. */
  get hasScanned(): boolean {
    return this.height > 1;
  }

  /** Whether the spend secret is out of memory, or about to be: spends are recognised once it is back. */
  get isBackgroundSyncing(): boolean {
    return this.state.background !== undefined || this.#signer.kind === "background";
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

  /** Network, height and time, for the unlock rules. */
  now(): Now {
    return { network: this.network, height: this.height, seconds: this.runtime.clock() };
  }

  /** Identifies the current state, without recognised addresses: another object after every change. */
  get moment(): object {
    const seconds = this.#isTimed ? this.runtime.clock() : 0;
    if (this.#hasChanged || seconds !== this.#moment.seconds) this.#moment = { seconds };
    this.#hasChanged = false;
    return this.#moment;
  }

  /** The text of one of this wallet's addresses, whether in use or not. */
  addressOf(index: SubaddressIndex): string {
    return this.#addresses.addressOf(index);
  }

  /** Number of addresses that the wallet recognises, with its look-ahead; it never decreases. */
  get reach(): number {
    return this.#scans.table.size;
  }

  /** Computes many addresses before `addressOf` is called for them, and yields to the event loop in between. */
  prepareAddresses = (indices: Iterable<SubaddressIndex>): Promise<void> => this.#addresses.prepare(indices);

  /** Index of an address of this wallet, its look-ahead included; undefined for any other text. */
  indexOf(address: string): SubaddressIndex | undefined {
    const spendPublic = this.#addresses.spendKeyOf(address);
    return spendPublic === undefined ? undefined : this.indexOfSpendKey(spendPublic);
  }

  indexOfSpendKey(spendPublic: Uint8Array): SubaddressIndex | undefined {
    return this.#scans.table.indexOf(spendPublic);
  }

  /** Resolves once the files have everything that was scanned. */
  flush = (): Promise<void> => this.#log.flush();

  /** Number of changes since the wallet was opened. */
  get changes(): number {
    return this.#changes;
  }

  /** Every address that is recognised; complete once the wallet is ready. */
  get subaddresses(): RecognisedAddresses {
    return this.#scans.table;
  }

  /** Resolves once every address in use, and the look-ahead, can be recognised. */
  whenReady = (): Promise<unknown> => this.#scans.ready;

  /** The owned output with this key image (32 bytes). */
  outputOf(keyImage: Uint8Array): OwnedOutput | undefined {
    return this.state.outputs.withImage(keyImage);
  }

  /** Whether an output can be spent now. */
  isSpendable({ oneTimeKey }: OwnedOutput): boolean {
    const place = this.state.outputs.placeOfKey(oneTimeKey);
    return place !== undefined && this.state.outputs.isSpendable(place, this.spendableNow);
  }

  /** Decides which outputs can be spent now. */
  get spendableNow(): SpendableQuestion {
    const now = this.now();
    const needsKeyImage = !this.#signer.asksForKeyImages;
    return { ...now, needsKeyImage, isUnlocked: (output) => isUnlocked(output, now) };
  }

  /**
   * Applies a change and resolves once it is durable. The state changes at once, so that two callers never start from
   * the same old state; if the change can't be stored this rejects, and so does every later change until the wallet is
   * opened again. Events that are too many for one change are told by others, before it resolves.
   */
  async commit(change: WalletChange, encoded?: Uint8Array): Promise<void> {
    await this.#keep(change, encoded);
    for (let rest = this.#events?.rest; rest !== undefined; rest = this.#events?.rest) await this.#keep(rest);
  }

  async #keep(change: WalletChange, encoded?: Uint8Array): Promise<void> {
    if (this.#closed) throw new WalletRefusal("NOT_OPEN", "No wallet file");
    this.checkWritten();
    let meaning: ReturnType<typeof applyTold>;
    try {
      meaning = applyTold(this.#ledger, change, this.#events);
      this.#hasChanged = true;
      this.#changes += 1;
      this.#isTimed ||= itemsOfChange(change).some(waitsForTime);
      const written = this.#log.append(change, encoded);
      if (written !== undefined) await written.catch(refuseUnwritten);
    } catch (error) {
      this.unwritten ??= { error };
      this.#log.refuse(error);
      throw error;
    }
    if (meaning !== undefined) await this.#events?.keepSoon(meaning);
  }

  /** Throws if a change could not be stored: nothing may be sent that depends on what is in memory alone. */
  checkWritten(): void {
    if (this.unwritten !== undefined) throw this.unwritten.error;
  }

  /** Runs changes that must not interleave (choosing outputs and recording their spending) one after the other. */
  exclusively<T>(task: () => Promise<T>): Promise<T> {
    return this.#spending.run(task);
  }

  /** Records that the node accepted the transaction. */
  markRelayed(txHash: Uint8Array): Promise<void> {
    return this.commit({ kind: "outgoingState", txHash: toHex(txHash), state: "pending" });
  }

  /** Creates an account; resolves with its index once payments to it are found. */
  async createAccount(label: string): Promise<number> {
    const major = this.state.accounts.length;
    await this.commit({ kind: "newAccount", label });
    await this.#scans.cover({ major, minor: 0 });
    return major;
  }

  /** Creates addresses; resolves with their indices once payments to them are found. */
  async createAddresses(account: number, label: string, count: number): Promise<number[]> {
    const first = this.state.accounts[account]!.addresses.length;
    await this.commit({ kind: "newAddress", account, label, count });
    await this.#scans.cover({ major: account, minor: first + count - 1 });
    return Array.from({ length: count }, (_, i) => first + i);
  }

  /** Imports outputs that a view-only copy found; payments to their addresses are found from now on. */
  async importOutputs(change: Extract<WalletChange, { kind: "importedOutputs" }>): Promise<void> {
    await this.commit(change);
    const images = change.outputs.flatMap(({ keyImage }) => (keyImage === undefined ? [] : [keyImage]));
    this.#scans.learn(images);
    for (const index of lastAddresses(change.outputs)) await this.#scans.cover(index);
  }

  /** Ensures that payments to any address in use are found, however the address came into use. */
  async coverAll(): Promise<void> {
    for (const [major, { addresses }] of this.state.accounts.entries())
      await this.#scans.cover({ major, minor: addresses.length - 1 });
  }

  /** Ensures that payments up to `lookahead` beyond the addresses in use are found; recognised addresses still are. */
  async setLookahead(lookahead: Lookahead): Promise<void> {
    await this.#scans.cover({ major: 0, minor: 0 }, lookahead);
    await this.coverAll();
  }

  /** Imports key images (32 bytes) that another wallet computed; their spends are recognised from now on. */
  async learnKeyImages(
    change: Extract<WalletChange, { kind: "keyImages" | "coldKeyImages" }>,
  ): Promise<void> {
    await this.commit(change);
    this.#scans.learn("keyImages" in change ? change.keyImages : change.images.map((it) => it.keyImage));
  }

  /** Runs a task while no scan and no spend is under way. */
  whileUnchanged<T>(task: () => Promise<T>): Promise<T> {
    return this.#scans.inTurn(() => this.exclusively(task));
  }

  /** Signs with these keys at once, and scans with them from now on; closing the wallet wipes them. */
  useKeys(keys: WalletKeys): Promise<void> {
    this.#signer = signerOf(keys, this.isBackgroundSyncing);
    return this.#scans.restart();
  }

  /**
   * Scans the new blocks and the pool, then sends again the transactions that the node may not have. Calls run one
   * after the other. Throws `WalletRefusal` if the node doesn't respond.
   */
  async refresh(startHeight = 0): Promise<RefreshResult> {
    const scan = () => this.#scans.refresh(startHeight, this.#events?.waitsForScan);
    const result = await this.#scans.inTurn(scan);
    const passed = this.#events?.timePassed(this.runtime.clock());
    if (passed !== undefined) await this.commit(passed);
    await sendUnseen(this, this.#spending);
    return result;
  }

  /** Scans single transactions of the chain, and the pool. */
  scanTransactions(entries: readonly SingleTransaction[]): Promise<void> {
    return this.#scans.inTurn(async () => {
      const transactions = await this.#scans.look(entries);
      if (transactions.length > 0) await this.commit({ kind: "transactions", transactions });
    });
  }

  /** Deletes what came from the chain and scans again; `hard` also deletes transaction keys and, if not kept, notes. */
  rescan(options: { readonly hard: boolean; readonly keepsNotes: boolean }): Promise<RefreshResult> {
    return this.#scans.inTurn(async () => {
      // Deleted data can only be fetched again if the node responds.
      await this.daemon.getHeight();
      await this.#events?.prepareReset();
      await this.commit({ kind: "reset", ...options });
      return await this.#scans.refresh(0);
    });
  }

  /** Undoes every block from `height` on and scans them again. Throws `WalletRefusal` if the node doesn't respond. */
  scanAgain(height: number): Promise<RefreshResult> {
    return this.#scans.inTurn(async () => {
      await this.#undo(height);
      return await this.#scans.refresh(0);
    });
  }

  /** Undoes every block from `height` on; the next scan reads them again. */
  undoBlocks(height: number): Promise<void> {
    return this.#scans.inTurn(() => this.#undo(height));
  }

  async #undo(height: number): Promise<void> {
    await this.undoDownTo(height);
    await this.commit(undoneFrom(height, this.state));
  }

  /** Undoes most blocks from a height on, in parts, while nothing is scanned; the change that follows undoes the rest. */
  undoDownTo = (height: number): Promise<void> => this.#scans.undoDownTo(height);

  /** Scans the pool for payments; while blocks are scanned, or if no node responds, the last result stays. */
  async refreshPool(): Promise<void> {
    if (!this.isBackgroundSyncing) await this.#scans.refreshPool();
  }

  /** Rejects the scan under way and all later ones; what has been scanned is kept. */
  endScans(reason?: WalletRefusal): void {
    this.#scans.end(reason);
  }

  /** Ends the scan under way and waits for it and for payments. Nothing is scanned afterwards. */
  async settle(): Promise<void> {
    this.endScans(new WalletRefusal("NOT_OPEN", "No wallet file"));
    await Promise.all([this.#scans.whenIdle(), this.#spending.whenIdle()]);
  }

  /** Waits for tasks under way, closes the files, wipes the secrets. */
  async close(): Promise<void> {
    await this.#scans.stop();
    await Promise.all([this.#scans.whenIdle(), this.#spending.whenIdle()]);
    this.#closed = true;
    try {
      await this.#events?.close();
      await this.#log.close();
    } finally {
      wipeKeys(this.#signer.keys);
      wipeSecrets(this.state);
    }
  }
}
