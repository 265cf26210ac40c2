/** What is true of some hundred items of a list that follow each other, so that a search leaves out most of them. */

export const ZONE_ITEMS = 256;

const NUMBER_BYTES = 8;

export type Zone = { lowest: number; highest: number; latestUnlock: number };

export class Zones {
  readonly #zones: Zone[] = [];

  /** Includes the item at a place in its zone. */
  add(place: number, height: number, unlockTime: bigint): void {
    const at = Math.floor(place / ZONE_ITEMS);
    const zone = this.#zones[at];
    const unlock = Number(unlockTime);
    if (zone === undefined) this.#zones[at] = { lowest: height, highest: height, latestUnlock: unlock };
    else {
      zone.lowest = Math.min(zone.lowest, height);
      zone.highest = Math.max(zone.highest, height);
      zone.latestUnlock = Math.max(zone.latestUnlock, unlock);
    }
  }

  at(zone: number): Readonly<Zone> {
    return this.#zones[zone]!;
  }

  /** Sets the zone behind the last one. */
  set(zone: number, { lowest, highest, latestUnlock }: Readonly<Zone>): void {
    this.#zones[zone] = { lowest, highest, latestUnlock };
  }

  /** Some zones as bytes, from one to before another. */
  bytes(from: number, to: number): Uint8Array {
    const numbers = this.#zones
      .slice(from, to)
      .flatMap(({ lowest, highest, latestUnlock }) => [lowest, highest, latestUnlock]);
    const bytes = Buffer.alloc(NUMBER_BYTES * numbers.length);
    for (const [i, number] of numbers.entries()) bytes.writeDoubleBE(number, NUMBER_BYTES * i);
    return new Uint8Array(bytes);
  }

  /** Sets `count` zones behind the last one, which `bytes` has written. Throws `RangeError`. */
  addBytes(bytes: Uint8Array, count: number): void {
    if (bytes.length !== 3 * NUMBER_BYTES * count) throw new RangeError(`${bytes.length} bytes of zones`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < bytes.length; at += 3 * NUMBER_BYTES)
      this.#zones.push({
        lowest: view.getFloat64(at),
        highest: view.getFloat64(at + NUMBER_BYTES),
        latestUnlock: view.getFloat64(at + 2 * NUMBER_BYTES),
      });
  }

  /** Removes the zones from the one of a place on; returns the first place of that zone. */
  removeFrom(place: number): number {
    const at = Math.min(this.#zones.length, Math.floor(place / ZONE_ITEMS));
    this.#zones.length = at;
    return at * ZONE_ITEMS;
  }

  /** Ranges of places (the second is after the last) of the zones in which some item may have a height in a range. */
  *within(lowest: number, highest: number): Generator<readonly [number, number]> {
    yield* this.#rangesOf((zone) => zone.highest >= lowest && zone.lowest <= highest);
  }

  /** As `within`, of the zones in which some item may not be `depth` deep, or locked, at a height. */
  *unsettled(depth: number, height: number): Generator<readonly [number, number]> {
    yield* this.#rangesOf((zone) => zone.highest + depth > height || zone.latestUnlock > height);
  }

  /** The latest unlock time of all items; 0 if there are none. */
  get latestUnlock(): number {
    return this.#zones.reduce((latest, zone) => Math.max(latest, zone.latestUnlock), 0);
  }

  *#rangesOf(isWanted: (zone: Zone) => boolean): Generator<readonly [number, number]> {
    for (const [at, zone] of this.#zones.entries())
      if (isWanted(zone)) yield [at * ZONE_ITEMS, (at + 1) * ZONE_ITEMS] as const;
  }
}
