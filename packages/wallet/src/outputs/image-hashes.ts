/** Hashes of the key images of a wallet's outputs, for whoever looks for spends of any of them. */
import { randomFillSync } from "node:crypto";
import { SEGMENT_PLACES } from "../packed/hash-segment.ts";
import { COLD_OUTPUTS, type ColdOutputs } from "./cold-outputs.ts";
import { KeyHashes } from "./key-set.ts";

/** The outputs whose key images are hashed. */
export type HashedOutputs = {
  readonly count: number;
  hasKeyImage(place: number): boolean;
  readonly cold: Pick<ColdOutputs, "keysOn">;
};

export class ImageHashes {
  readonly #outputs: HashedOutputs;
  #hashing = new KeyHashes(randomFillSync);
  #readStored: (segment: number) => Uint32Array | undefined = () => undefined;

  constructor(outputs: HashedOutputs) {
    this.#outputs = outputs;
  }

  /** What they are made with. */
  get hashing(): KeyHashes {
    return this.#hashing;
  }

  /** Takes over those that a store has, by the number of their segment; undefined if it has none. */
  use(hashing: KeyHashes, readStored: (segment: number) => Uint32Array | undefined): void {
    this.#hashing = hashing;
    this.#readStored = readStored;
  }

  /** Both hashes of each known key image, of some hundred outputs or more at a time. */
  *all(): Generator<Uint32Array> {
    for (let number = 0; number * SEGMENT_PLACES < this.#outputs.count; number++) {
      const stored = this.#readStored(number);
      if (stored === undefined) yield* this.ofSegment(number);
      else yield stored;
    }
  }

  /** The same of the outputs of a segment, from their keys. */
  *ofSegment(segment: number): Generator<Uint32Array> {
    const { cold, count } = this.#outputs;
    const isKnown = (place: number) => this.#outputs.hasKeyImage(place);
    const end = Math.min((segment + 1) * SEGMENT_PLACES, count);
    for (let page = (segment * SEGMENT_PLACES) / COLD_OUTPUTS; page * COLD_OUTPUTS < end; page++)
      yield this.#hashing.all(cold.keysOn(page, "keyImage", isKnown));
  }
}
