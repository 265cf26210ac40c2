/** What one caller may spend, counted before anything is signed. */

/** A spend that is about to be signed; amounts in atomic units. */
export type Spend = {
  /** The payment's key, its caller's or its own: a spend that never left is counted once however often it is begun. */
  readonly key: string;
  /** What leaves, the fee included. */
  readonly amount: bigint;
};

/** A spend that is counted. */
export interface Reservation {
  /** Its transactions (ids, hexadecimal) are about to leave: it is counted for good. Durable once this resolves. */
  settle(txHashes: readonly string[]): Promise<void>;
  /** Nothing has left: it is counted no more. */
  release(): Promise<void>;
}

export interface Allowance {
  /** Counts a spend, durably before this resolves. Throws `WalletRefusal` where it is more than the caller may spend. */
  reserve(spend: Spend): Promise<Reservation>;
  /** Notes that transactions leave that nobody counted here. Throws `WalletRefusal` where that is not allowed. */
  passOn(txHashes: readonly string[]): Promise<void>;
}
