/** One open wallet: its state, the order in which it changes, and its keys while it is open. */
import { toHex } from "@anulo/protocol";
import type { WalletChange } from "./changes.ts";
import type { ChangeLog } from "./file/store.ts";
import { applyChange, type Ledger } from "./ledger.ts";
import type { NetworkName, OutgoingPayment, OwnedOutput, WalletKeys, WalletState } from "./state.ts";
import { isUnlocked, isUnspent, type Now } from "./unlock.ts";

export type WalletParts = {
  readonly keys: WalletKeys;
  readonly ledger: Ledger;
  readonly log: ChangeLog;
  /** Seconds since 1970. */
  readonly clock?: () => number;
};

/** State as everybody but `commit` sees it. */
export type ReadonlyState = Readonly<WalletState>;

export class Wallet {
  readonly keys: WalletKeys;
  readonly #ledger: Ledger;
  readonly #log: ChangeLog;
  readonly #clock: () => number;
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor({ keys, ledger, log, clock }: WalletParts) {
    this.keys = keys;
    this.#ledger = ledger;
    this.#log = log;
    this.#clock = clock ?? (() => Math.floor(Date.now() / 1000));
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

  get isViewOnly(): boolean {
    return this.keys.spendSecret === undefined;
  }

  /** What the unlock rules need to know about the present. */
  now(): Now {
    return { network: this.network, height: this.height, seconds: this.#clock() };
  }

  /** The owned output with this key image (32 bytes). */
  outputOf(keyImage: Uint8Array): OwnedOutput | undefined {
    return this.#ledger.byKeyImage.get(toHex(keyImage));
  }

  /** Outputs that can be spent this moment: unspent, unlocked, not frozen, key image known. */
  spendableOutputs(): OwnedOutput[] {
    const now = this.now();
    return this.state.outputs.filter(
      (output) =>
        isUnspent(output) && !output.frozen && output.keyImage !== undefined && isUnlocked(output, now),
    );
  }

  /**
   * Makes a change and answers once it survives a crash. The state moves at once, so that two callers never
   * build on the same past; a change that could not be kept rejects and leaves the wallet closed for changes.
   */
  async commit(change: WalletChange): Promise<void> {
    if (this.#closed) throw new Error("the wallet is closed");
    applyChange(this.#ledger, change);
    await this.#log.append(change);
  }

  /** Changes that must not interleave (choosing outputs and recording their spending) take turns here. */
  exclusively<T>(task: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(task, task);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  /** Keeps a signed transaction and its secret keys, before any byte of it leaves; its inputs count as spent from now on. */
  recordOutgoing(payment: OutgoingPayment, txKeys: readonly Uint8Array[]): Promise<void> {
    return this.commit({ kind: "outgoing", payment, txKeys });
  }

  /** The node took it. */
  markRelayed(txHash: Uint8Array): Promise<void> {
    return this.commit({ kind: "outgoingState", txHash: toHex(txHash), state: "pending" });
  }

  /** The node refused it: its inputs are free again and the record is gone. */
  discardOutgoing(txHash: Uint8Array): Promise<void> {
    return this.commit({ kind: "discardOutgoing", txHash: toHex(txHash) });
  }

  /** Waits for what is under way, closes the files, wipes the secrets. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#turn;
    await this.#log.close();
    this.keys.viewSecret.fill(0);
    this.keys.spendSecret?.fill(0);
    for (const keys of this.#ledger.state.txKeys.values()) for (const key of keys) key.fill(0);
  }
}
