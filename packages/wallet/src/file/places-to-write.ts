/** Which outputs of a wallet the original program's cache has room for. */
import { runSliced } from "@anulo/limits";
import type { OutputBook } from "../outputs/output-book.ts";

/** Source: wallet2.cpp `import_outputs`. */
const MAX_OUTPUT_INDEX = 0xffff;
/** Number of outputs between two looks at the time. */
const ITEMS_A_STEP = 64;

/**
 * Their places by height, on which the original relies when blocks are undone; scanning single transactions can break
 * this order. Found in slices.
 */
export async function placesToWrite(outputs: OutputBook): Promise<Uint32Array> {
  return await runSliced(findPlaces(outputs));
}

function* findPlaces(outputs: OutputBook): Generator<void, Uint32Array> {
  const { count } = outputs;
  const [places, heights] = [new Uint32Array(count), new Uint32Array(count)];
  let isInOrder = true;
  let [length, last] = [0, 0];
  // Outputs may be removed in a pause.
  for (let place = 0; place < Math.min(count, outputs.count); place++) {
    if (place % ITEMS_A_STEP === ITEMS_A_STEP - 1) yield;
    const output = outputs.at(place);
    if (output === undefined || output.outputIndex > MAX_OUTPUT_INDEX) continue;
    places[length++] = place;
    heights[place] = output.height;
    isInOrder &&= output.height >= last;
    last = output.height;
  }
  const found = places.subarray(0, length);
  return isInOrder ? found : yield* sortedBy(heights, found);
}

/** Places by what a column has of them, those of the same value in the order they had: runs are merged until one is left. */
function* sortedBy(column: Uint32Array, places: Uint32Array): Generator<void, Uint32Array> {
  const { length } = places;
  let from: Uint32Array = places;
  let to: Uint32Array = new Uint32Array(length);
  for (let run = 1; run < length; run *= 2) {
    for (let begin = 0; begin < length; begin += 2 * run) {
      const middle = Math.min(begin + run, length);
      const end = Math.min(middle + run, length);
      let [left, right] = [begin, middle];
      for (let at = begin; at < end; at++) {
        const isLeft = right >= end || (left < middle && column[from[left]!]! <= column[from[right]!]!);
        to[at] = isLeft ? from[left++]! : from[right++]!;
        if (at % ITEMS_A_STEP === ITEMS_A_STEP - 1) yield;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}
