/** Lists for the original program's cache, whose items are created when they are written. */
import { TimeSlice } from "@anulo/limits";
import type { Items } from "./original-cache.ts";

/** Number of items between two looks at the time. */
const ITEMS_A_STEP = 64;

/** An entry was deleted while the cache was being written, so writing has to begin again. */
export class WalletMoved extends Error {
  override name = "WalletMoved";
}

/** The entries of a map by its current keys. */
export function entriesOf<K, V, R>(
  map: Pick<ReadonlyMap<K, V>, "get" | "keys">,
  make: (key: K, value: V) => R,
): Items<R> {
  return each([...map.keys()], (key) => {
    const value = map.get(key);
    if (value === undefined) throw new WalletMoved();
    return make(key, value);
  });
}

/** The numbers up to `length` that are chosen, found in slices. */
export async function chosen(length: number, isChosen: (index: number) => boolean): Promise<Uint32Array> {
  const numbers = new Uint32Array(length);
  const slice = new TimeSlice();
  let count = 0;
  for (let index = 0; index < length; index++) {
    if (isChosen(index)) numbers[count++] = index;
    if (index % ITEMS_A_STEP === ITEMS_A_STEP - 1 && slice.isOver) await slice.yield();
  }
  return numbers.slice(0, count);
}

/** Items that are created when they are iterated. */
export function each<T, R>(list: Items<T>, make: (item: T, index: number) => R): Items<R> {
  return {
    length: list.length,
    *[Symbol.iterator]() {
      let index = 0;
      for (const item of list) yield make(item, index++);
    },
  };
}

/** As many items, each created by its place. */
export function eachPlace<R>(length: number, make: (place: number) => R): Items<R> {
  return {
    length,
    *[Symbol.iterator]() {
      for (let place = 0; place < length; place++) yield make(place);
    },
  };
}
