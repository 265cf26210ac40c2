/** The writer does not own the wallet, as a rule since another has taken it: nothing was applied. */
export class Fenced extends Error {
  override readonly name = "Fenced";
  /** The epoch of the refused writer, and that of the owner; 0 where the wallet was never fenced. */
  readonly epoch: number;
  readonly current: number;

  constructor(epoch: number, current: number) {
    super(`the wallet's owner has epoch ${current}, not ${epoch}`);
    this.epoch = epoch;
    this.current = current;
  }
}

/** A change, or a row of it, is above the limits; nothing was applied. */
export class ChangeTooLarge extends Error {
  override readonly name = "ChangeTooLarge";
}

/** The engine could not do it, or is closed: nothing was applied. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
  /** Whether the engine may do it when it is asked again: its server was out of reach. */
  readonly mayPass: boolean;

  constructor(message: string, { mayPass = false, ...options }: ErrorOptions & { mayPass?: boolean } = {}) {
    super(message, options);
    this.mayPass = mayPass;
  }
}

/** Whether the change was applied could not be learnt: its writer has to open the wallet again and look. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
}

/** A row, or the store's own record, is not what was written there. */
export class DamagedStore extends Error {
  override readonly name = "DamagedStore";
}

/** The wrapping key does not open this wallet's store. */
export class WrongStoreKey extends Error {
  override readonly name = "WrongStoreKey";
}

/** The process is a member of its fleet no more: its leases are others' to take, and it has to join anew. */
export class Expelled extends Error {
  override readonly name = "Expelled";
}
