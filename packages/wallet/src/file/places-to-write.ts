/** Which outputs of a wallet the original program's cache has room for. */
import { setImmediate } from "node:timers/promises";
import type { OutputBook } from "../outputs/output-book.ts";

/** Source: wallet2.cpp `import_outputs`. */
const MAX_OUTPUT_INDEX = 0xffff;
/** Number of outputs read before yielding to the event loop. */
const ITEMS_AT_ONCE = 10_000;

/**
 * Their places by height, on which the original relies when blocks are undone;
 * scanning single transactions can break this order.
 */
export async function placesToWrite(outputs: OutputBook): Promise<number[]> {
  const places: number[] = [];
  let isInOrder = true;
  let last = 0;
  for (let place = 0; place < outputs.count; place++) {
    if (place % ITEMS_AT_ONCE === 0) await setImmediate();
    const { outputIndex, height } = outputs.at(place)!;
    if (outputIndex > MAX_OUTPUT_INDEX) continue;
    places.push(place);
    isInOrder &&= height >= last;
    last = height;
  }
  const heightOf = (place: number): number => outputs.at(place)?.height ?? 0;
  return isInOrder ? places : places.sort((a, b) => heightOf(a) - heightOf(b));
}
