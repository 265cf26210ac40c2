import { ByteBudget, type ByteReservation } from "@anulo/limits";
import { sharedLimits } from "../shared-limits.ts";

/** An incoming peer that holds less is not dropped to make room while another one is left. */
const SMALL_BYTES = 1024 * 1024;

/** A connection that holds memory, and can be closed to get it back. */
export interface MemoryHolder {
  readonly direction: "in" | "out";
  readonly memory: PeerMemory;
  drop(reason: string): void;
}

/** The memory of all connections of a network. */
export class SharedMemory {
  readonly budget: ByteBudget;
  readonly #holders: () => Iterable<MemoryHolder>;

  constructor(holders: () => Iterable<MemoryHolder>, capacity: number = sharedLimits.memory.allPeersBytes) {
    this.budget = new ByteBudget(capacity);
    this.#holders = holders;
  }

  /** Closes connections, the one that holds most first, until `bytes` are available. */
  makeRoom(bytes: number): void {
    while (this.budget.available < bytes) {
      const largest = this.#largest();
      if (largest === undefined) return;
      const before = this.budget.used;
      largest.drop("holds too much memory");
      if (this.budget.used >= before) return;
    }
  }

  /** Incoming peers go first: whom we called ourselves is less likely to be an attacker. */
  #largest(): MemoryHolder | undefined {
    let largest: MemoryHolder | undefined;
    const rank = ({ direction, memory: { used } }: MemoryHolder) =>
      direction === "in" && used > SMALL_BYTES ? used + this.budget.capacity : used;
    for (const holder of this.#holders()) {
      if (holder.memory.used > 0 && (largest === undefined || rank(holder) > rank(largest))) largest = holder;
    }
    return largest;
  }
}

/** The memory of one connection. A reservation outlives the connection: who made it releases it. */
export class PeerMemory {
  readonly #shared: SharedMemory;
  readonly #budget: ByteBudget;
  #isClosed = false;

  constructor(shared: SharedMemory) {
    this.#shared = shared;
    this.#budget = new ByteBudget(sharedLimits.memory.onePeerBytes, shared.budget);
  }

  /** Bytes held. */
  get used(): number {
    return this.#budget.used;
  }

  /** From now on nothing more is reserved; what is reserved stays so until it is released. */
  close(): void {
    this.#isClosed = true;
  }

  /** Reserves bytes, for which other connections may be closed; undefined where this one holds too much itself. */
  reserve(bytes: number): ByteReservation | undefined {
    const reservation = this.#budget.reserve(0)!;
    const resize = (size: number): boolean => {
      const more = size - reservation.bytes;
      if (more > 0 && this.#budget.used + more <= this.#budget.capacity) this.#shared.makeRoom(more);
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
}
