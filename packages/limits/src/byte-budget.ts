/** Bytes reserved from a budget by one holder: a connection, a message, a response. */
export interface ByteReservation {
  /** Bytes reserved now. */
  readonly bytes: number;
  /** Reserves exactly `bytes` from now on. Returns false, and changes nothing, where the budget has too few left. */
  resize(bytes: number): boolean;
  /** Returns all reserved bytes to the budget; may be called again. */
  release(): void;
}

/**
 * Counts the memory that strangers make us use against a limit. A budget within another one (a port's within the
 * service's, a peer's within that of all peers) counts against both.
 */
export class ByteBudget {
  readonly capacity: number;
  readonly #parent: ByteBudget | undefined;
  #used = 0;

  /** `capacity` in bytes. */
  constructor(capacity: number, parent?: ByteBudget) {
    this.capacity = capacity;
    this.#parent = parent;
  }

  /** Bytes reserved. */
  get used(): number {
    return this.#used;
  }

  /** Bytes that may still be reserved, here and in every budget above. */
  get available(): number {
    const own = this.capacity - this.#used;
    return this.#parent === undefined ? own : Math.min(own, this.#parent.available);
  }

  /** Starts a reservation of `bytes`; returns undefined where too few are left. */
  reserve(bytes: number): ByteReservation | undefined {
    const reservation = new Reservation(this);
    return reservation.resize(bytes) ? reservation : undefined;
  }

  /**
   * Reserves bytes, or returns them to the budget if negative. Returns false, and changes nothing, where too few are
   * left.
   */
  take(bytes: number): boolean {
    if (bytes > this.available) return false;
    this.#add(bytes);
    return true;
  }

  #add(bytes: number): void {
    this.#used += bytes;
    if (this.#parent !== undefined) this.#parent.#add(bytes);
  }
}

/** A class for speed: there is one reservation for every request. */
class Reservation implements ByteReservation {
  readonly #budget: ByteBudget;
  #bytes = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  get bytes(): number {
    return this.#bytes;
  }

  resize(bytes: number): boolean {
    const isTaken = this.#budget.take(bytes - this.#bytes);
    if (isTaken) this.#bytes = bytes;
    return isTaken;
  }

  release(): void {
    this.resize(0);
  }
}
