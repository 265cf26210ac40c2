import { ByteBudget, type ByteReservation } from "@anulo/limits";
import { sharedLimits } from "../shared-limits.ts";

const { allPeersBytes, onePeerBytes, smallHolderBytes, smallHoldersBytes } = sharedLimits.memory;

/** A connection that uses memory, and can be closed to release it. */
export interface MemoryHolder {
  readonly direction: "in" | "out";
  readonly memory: PeerMemory;
  drop(reason: string): void;
}

/** The memory of all connections of a network. */
export class SharedMemory {
  readonly budget: ByteBudget;
  /** Bytes of the budget that are reserved for connections that use little. */
  readonly keptForSmall: number;
  readonly #holders: () => Iterable<MemoryHolder>;

  constructor(
    holders: () => Iterable<MemoryHolder>,
    { capacity = allPeersBytes, keptForSmall = smallHoldersBytes } = {},
  ) {
    this.budget = new ByteBudget(capacity);
    this.keptForSmall = keptForSmall;
    this.#holders = holders;
  }

  /**
   * Closes connections, the one that uses most first, until `bytes` are available; returns false where so many can't
   * be.
   */
  makeRoom(bytes: number): boolean {
    while (this.budget.available < bytes) {
      const largest = this.#largest();
      if (largest === undefined) return false;
      const before = this.budget.used;
      largest.drop("holds too much memory");
      // What is being handled for it is released later: closing more connections meanwhile would release nothing.
      if (this.budget.used >= before) return this.budget.available >= bytes;
    }
    return true;
  }

  /** Incoming peers that use much are closed first: a node that we connected to is less likely to be an attacker. */
  #largest(): MemoryHolder | undefined {
    let largest: MemoryHolder | undefined;
    const rank = ({ direction, memory: { used } }: MemoryHolder) =>
      direction === "in" && used > smallHolderBytes ? used + this.budget.capacity : used;
    for (const holder of this.#holders()) {
      if (holder.memory.used > 0 && (largest === undefined || rank(holder) > rank(largest))) largest = holder;
    }
    return largest;
  }
}

/** The memory of one connection. A reservation outlives the connection: the code that made it releases it. */
export class PeerMemory {
  readonly #shared: SharedMemory;
  readonly #budget: ByteBudget;
  #isClosed = false;

  constructor(shared: SharedMemory) {
    this.#shared = shared;
    this.#budget = new ByteBudget(onePeerBytes, shared.budget);
  }

  /** Bytes in use. */
  get used(): number {
    return this.#budget.used;
  }

  /** After this nothing more can be reserved; reservations remain until they are released. */
  close(): void {
    this.#isClosed = true;
  }

  /** Reserves bytes, for which other connections may be closed; undefined where this one uses too much itself. */
  reserve(bytes: number): ByteReservation | undefined {
    const reservation = this.#budget.reserve(0)!;
    const resize = (size: number): boolean => {
      const more = size - reservation.bytes;
      if (more > 0 && !this.#hasRoom(more)) return false;
      // Making room may have closed this very connection.
      return (more <= 0 || !this.#isClosed) && reservation.resize(size);
    };
    if (!resize(bytes)) return undefined;
    return {
      get bytes() {
        return reservation.bytes;
      },
      resize,
      release: () => reservation.release(),
    };
  }

  /** A connection that uses little finds room even where all others together use as much as they may. */
  #hasRoom(bytes: number): boolean {
    const total = this.#budget.used + bytes;
    if (total > this.#budget.capacity) return false;
    return this.#shared.makeRoom(bytes + (total <= smallHolderBytes ? 0 : this.#shared.keptForSmall));
  }
}
