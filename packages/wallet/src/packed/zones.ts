/** What is true of some hundred items of a list that follow each other, so that a search leaves out most of them. */

export const ZONE_ITEMS = 256;

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
