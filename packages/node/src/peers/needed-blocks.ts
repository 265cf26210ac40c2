import { equalBytes, toHex } from "@anulo/protocol";

/** A block to fetch: id (32 bytes and hexadecimal), height, weight in bytes (0: not announced). */
export interface NeededBlock {
  readonly id: Uint8Array;
  readonly key: string;
  readonly height: number;
  readonly weight: number;
}

const ID_BYTES = 32;

/** Consecutive blocks that a peer announced. */
export interface AnnouncedBlocks {
  /** Height of the first. */
  readonly start: number;
  /** Ids, 32 bytes each. */
  readonly ids: readonly Uint8Array[];
  /** Weights in bytes; empty if none were announced. */
  readonly weights: readonly number[];
}

/** Consecutive blocks of a peer's chain, oldest first, kept as bytes: peers may announce very many. */
export class NeededBlocks {
  readonly #start: number;
  readonly #ids: Uint8Array;
  readonly #weights: Float64Array;
  #dropped = 0;

  constructor({ start, ids, weights }: AnnouncedBlocks) {
    this.#start = start;
    this.#ids = new Uint8Array(ids.length * ID_BYTES);
    for (const [i, id] of ids.entries()) this.#ids.set(id, i * ID_BYTES);
    this.#weights = Float64Array.from(weights);
  }

  static none(): NeededBlocks {
    return new NeededBlocks({ start: 0, ids: [], weights: [] });
  }

  get length(): number {
    return this.#ids.length / ID_BYTES - this.#dropped;
  }

  /** Bytes of memory in use, including those of dropped blocks. */
  get byteLength(): number {
    return this.#ids.byteLength + this.#weights.byteLength;
  }

  /** The block at an index, counted from the oldest; undefined beyond the newest. */
  at(index: number): NeededBlock | undefined {
    const id = index < 0 ? undefined : this.#idAt(index);
    if (id === undefined) return undefined;
    const i = index + this.#dropped;
    return { id, key: toHex(id), height: this.#start + i, weight: this.#weights[i] ?? 0 };
  }

  /** Whether the peer has announced this block at its height, also if it was dropped. */
  hasAnnounced({ id, height }: Pick<NeededBlock, "id" | "height">): boolean {
    const ownId = this.#idAt(height - this.#start - this.#dropped);
    return ownId !== undefined && equalBytes(ownId, id);
  }

  /** Whether the peer has announced a block at this height, also one that was dropped. */
  coversHeight(height: number): boolean {
    return this.#idAt(height - this.#start - this.#dropped) !== undefined;
  }

  /** Below 0 are those that were dropped. */
  #idAt(index: number): Uint8Array | undefined {
    const i = index + this.#dropped;
    if (i < 0 || index >= this.length) return undefined;
    return this.#ids.subarray(i * ID_BYTES, (i + 1) * ID_BYTES);
  }

  /** Index of the first block that meets a condition, or -1. */
  findIndex(isMeant: (block: NeededBlock) => boolean): number {
    for (let i = 0; i < this.length; i++) if (isMeant(this.at(i)!)) return i;
    return -1;
  }

  /** Removes this many of the oldest, or all. */
  drop(count: number): void {
    this.#dropped += Math.min(count, this.length);
  }
}
