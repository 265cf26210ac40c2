/** What one caller may spend; it is counted before anything is signed. */

/** A spend that is about to be signed; amounts in atomic units. */
export type Spend = {
  /**
   * Key of the payment, from the caller or generated: a spend that was never sent is counted once, however often it is
   * begun.
   */
  readonly key: string;
  /** Total amount, the fee included. */
  readonly amount: bigint;
};

/** A spend that has been counted. */
export interface Reservation {
  /**
   * Counts the spend for good, since its transactions (ids, hexadecimal) are about to be sent. Durable once this
   * resolves.
   */
  settle(txHashes: readonly string[]): Promise<void>;
  /** Removes the spend from the count, since nothing was sent. */
  release(): Promise<void>;
}

export interface Allowance {
  /** Counts a spend, durably before this resolves. Throws `WalletRefusal` if it exceeds what the caller may spend. */
  reserve(spend: Spend): Promise<Reservation>;
  /** Records that transactions are sent which were not counted here. Throws `WalletRefusal` if that is not allowed. */
  passOn(txHashes: readonly string[]): Promise<void>;
}
