/** Bytes reserved from a budget by one holder: a connection, a message, a response. */
export interface ByteReservation {
  /** Bytes reserved now. */
  readonly bytes: number;
  /** Reserves exactly `bytes` from now on; false, and nothing changes, where the budget has too few left. */
  resize(bytes: number): boolean;
  /** Returns all of it to the budget; may be called again. */
  release(): void;
}

/**
 * Counts memory that strangers make us hold against a limit. A budget within another one (a port's within the
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

  /** Starts a reservation of `bytes`; undefined where too few are left. */
  reserve(bytes: number): ByteReservation | undefined {
    const reservation = this.#open();
    return reservation.resize(bytes) ? reservation : undefined;
  }

  #open(): ByteReservation {
    let held = 0;
    const resize = (bytes: number): boolean => {
      const more = bytes - held;
      // Giving back never fails, also where the budget is overdrawn.
      if (more > 0 && more > this.available) return false;
      held = bytes;
      this.#add(more);
      return true;
    };
    return {
      get bytes() {
        return held;
      },
      resize,
      release: () => void resize(0),
    };
  }

  #add(bytes: number): void {
    this.#used += bytes;
    if (this.#parent !== undefined) this.#parent.#add(bytes);
  }
}
