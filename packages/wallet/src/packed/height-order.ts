/** Places ordered by the height of their items, and those of one height by place. */
import { Column } from "./column.ts";

export class HeightOrder {
  /** Places, in order. */
  readonly #places = new Column();
  /** By place: its height plus 1, or 0 if it is not in the order. */
  readonly #heights = new Column();

  /** Adds a place, which must not be there already. */
  add(place: number, height: number): void {
    this.#heights.set(place, height + 1);
    this.#places.insert(this.#indexOf(height, place), place);
  }

  /** Does nothing if the place is not there. */
  remove(place: number): void {
    if (place >= this.#heights.length || this.#heights.at(place) === 0) return;
    const height = this.#heights.at(place) - 1;
    this.#places.remove(this.#indexOf(height, place));
    this.#heights.set(place, 0);
  }

  /** The places of these heights, both included, in order. */
  *between(lowest: number, highest: number): Generator<number> {
    for (let index = this.#indexOf(lowest, 0); index < this.#places.length; index++) {
      const place = this.#places.at(index);
      if (this.#heights.at(place) - 1 > highest) return;
      yield place;
    }
  }

  /** A copy of the same places. */
  within(lowest: number, highest: number): Uint32Array {
    return this.#places.slice(this.#indexOf(lowest, 0), this.#indexOf(highest + 1, 0));
  }

  clear(): void {
    this.#places.removeFrom(0);
    this.#heights.removeFrom(0);
  }

  /** Index of the first place that is not before this height and place. */
  #indexOf(height: number, place: number): number {
    let [low, high] = [0, this.#places.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#places.at(middle);
      const otherHeight = this.#heights.at(other) - 1;
      if (otherHeight < height || (otherHeight === height && other < place)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
