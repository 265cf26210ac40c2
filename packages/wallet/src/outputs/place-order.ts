/**
 * Places in some order, in chunks, so that one is added or removed without moving most of the others: some five bytes
 * each. What is known of a whole chunk is kept beside it until one of its places changes.
 */
import type { KeptSummary } from "./free-summary.ts";

/** Maximum number of places of a chunk. */
const CHUNK_PLACES = 512;
const LEAST_PLACES = 8;

/** Places in their order; `places` has room behind them. */
export type Chunk = {
  places: Uint32Array;
  length: number;
  /** Whether the array is in use elsewhere: what comes before its end may no longer change. */
  isShared: boolean;
  /** By kind of outputs. */
  summaryByKind: (KeptSummary | undefined)[];
};

/** Those of a chunk from one index to before another. */
export type ChunkPart = { readonly chunk: Chunk; readonly from: number; readonly to: number };

/** Tells where other places are in the order beside one: below 0 if before it, 0 if it is the same. */
export type OrderTo = (place: number) => (other: number) => number;

type Position = { readonly number: number; readonly index: number };

const chunkOf = (places: Uint32Array, length: number): Chunk => ({
  places,
  length,
  isShared: false,
  summaryByKind: [],
});

export class PlaceOrder {
  readonly #chunks: Chunk[] = [];
  readonly #orderTo: OrderTo;
  #version = 0;

  /** `places`: those in it at first, in this order. */
  constructor(orderTo: OrderTo, places: Uint32Array) {
    this.#orderTo = orderTo;
    for (let from = 0; from < places.length; from += CHUNK_PLACES) {
      const part = places.slice(from, from + CHUNK_PLACES);
      this.#chunks.push(chunkOf(part, part.length));
    }
  }

  /** Changes with every place. */
  get version(): number {
    return this.#version;
  }

  add(place: number): void {
    this.#version += 1;
    const { number, index } = this.#positionOf(place);
    const chunk = this.#chunks[number];
    if (chunk === undefined) {
      this.#chunks.push(chunkOf(Uint32Array.of(place), 1));
      return;
    }
    if (chunk.length < CHUNK_PLACES) insert(chunk, index, place);
    else if (index === CHUNK_PLACES) this.#chunks.splice(number + 1, 0, chunkOf(Uint32Array.of(place), 1));
    else {
      const half = CHUNK_PLACES / 2;
      const [low, high] = [chunk.places.slice(0, half), chunk.places.slice(half, chunk.length)];
      const halves = [chunkOf(low, low.length), chunkOf(high, high.length)] as const;
      this.#chunks.splice(number, 1, ...halves);
      insert(index <= half ? halves[0] : halves[1], index <= half ? index : index - half, place);
    }
  }

  /** Removes a place, which must be there. */
  delete(place: number): void {
    this.#version += 1;
    const { number, index } = this.#positionOf(place);
    const chunk = this.#chunks[number];
    if (chunk?.places[index] !== place || index >= chunk.length)
      throw new Error("the place is not in the order");
    const isLast = index === chunk.length - 1;
    if (chunk.isShared) {
      chunk.places = chunk.places.slice();
      chunk.isShared = false;
    }
    if (!isLast) chunk.places.copyWithin(index, index + 1, chunk.length);
    chunk.length -= 1;
    chunk.summaryByKind = [];
    if (chunk.length === 0) this.#chunks.splice(number, 1);
  }

  /** Forgets what is known of the chunk with a place, if it is there. */
  touch(place: number): void {
    this.#version += 1;
    const { number, index } = this.#positionOf(place);
    const chunk = this.#chunks[number];
    if (chunk !== undefined && index < chunk.length && chunk.places[index] === place)
      chunk.summaryByKind = [];
  }

  /** The places from the first that is not before a range to before the first that is after it. */
  range(isBefore: (place: number) => boolean, isAfter: (place: number) => boolean): ChunkPart[] {
    const start = this.#first((place) => !isBefore(place));
    const end = this.#first(isAfter);
    const parts: ChunkPart[] = [];
    for (let number = start.number; number <= Math.min(end.number, this.#chunks.length - 1); number++) {
      const chunk = this.#chunks[number]!;
      const from = number === start.number ? start.index : 0;
      const to = number === end.number ? end.index : chunk.length;
      if (from < to) parts.push({ chunk, from, to });
    }
    return parts;
  }

  /** Where a place is, or would be added. */
  #positionOf(place: number): Position {
    const orderTo = this.#orderTo(place);
    const last = this.#chunks.at(-1);
    if (last !== undefined) {
      const order = orderTo(last.places[last.length - 1]!);
      // Outputs are found, and taken back in a reorganisation, at the end.
      if (order <= 0) return { number: this.#chunks.length - 1, index: last.length - (order === 0 ? 1 : 0) };
    }
    return this.#first((each) => orderTo(each) >= 0);
  }

  /** Where the places of which something is true begin; it is true of all behind them, too. */
  #first(isReached: (place: number) => boolean): Position {
    let low = 0;
    for (let high = this.#chunks.length; low < high; ) {
      const middle = (low + high) >> 1;
      const { places, length } = this.#chunks[middle]!;
      if (isReached(places[length - 1]!)) high = middle;
      else low = middle + 1;
    }
    const chunk = this.#chunks[low];
    let index = 0;
    for (let high = chunk?.length ?? 0; index < high; ) {
      const middle = (index + high) >> 1;
      if (isReached(chunk!.places[middle]!)) high = middle;
      else index = middle + 1;
    }
    return { number: low, index };
  }
}

function insert(chunk: Chunk, index: number, place: number): void {
  const { places, length } = chunk;
  const isAppended = index === length;
  if (length === places.length || (chunk.isShared && !isAppended)) {
    const room = Math.min(
      CHUNK_PLACES,
      Math.max(LEAST_PLACES, length === places.length ? 2 * length : places.length),
    );
    chunk.places = new Uint32Array(room);
    chunk.places.set(places.subarray(0, length));
    chunk.isShared = false;
  }
  if (!isAppended) chunk.places.copyWithin(index + 1, index, length);
  chunk.places[index] = place;
  chunk.length += 1;
  chunk.summaryByKind = [];
}
