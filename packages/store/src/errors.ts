import type { Mark } from "./engine.ts";

/** The writer does not own the wallet, usually because another process has acquired it: nothing was applied. */
export class Fenced extends Error {
  override readonly name = "Fenced";
  /** The epoch of the refused writer, and that of the owner; 0 if the wallet was never fenced. */
  readonly epoch: number;
  readonly current: number;

  constructor(epoch: number, current: number) {
    super(`the wallet's owner has epoch ${current}, not ${epoch}`);
    this.epoch = epoch;
    this.current = current;
  }
}

/**
 * The database is older than what it has confirmed to this writer, as after a failover to a standby without the last
 * commits: nothing was applied.
 */
export class RolledBack extends Error {
  override readonly name = "RolledBack";

  constructor(known: Mark, found: Mark) {
    const of = ({ epoch, sequence }: Mark) => `change ${sequence} of epoch ${epoch}`;
    super(`the wallet's last change is ${of(found)}, not ${of(known)}`);
  }
}

/** A change, or a row of it, is above the limits; nothing was applied. */
export class ChangeTooLarge extends Error {
  override readonly name = "ChangeTooLarge";
}

/** The engine failed, or is closed: nothing was applied. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
  /** Whether a later attempt may succeed, because the server was out of reach. */
  readonly mayPass: boolean;

  constructor(message: string, { mayPass = false, ...options }: ErrorOptions & { mayPass?: boolean } = {}) {
    super(message, options);
    this.mayPass = mayPass;
  }
}

/** It is unknown whether the change was applied: the writer has to open the wallet again and check. */
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

/** A process was not started as the others of its fleet are, and can't join them. */
export class OtherSettings extends Error {
  override readonly name = "OtherSettings";
}

/** The process is a member of its fleet no more: its leases are others' to take, and it has to join anew. */
export class Expelled extends Error {
  override readonly name = "Expelled";
}
