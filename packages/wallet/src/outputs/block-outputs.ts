/** The outputs of one block by transaction: a block that brought many is undone some transactions at a time. */
import { toHex } from "@anulo/protocol";
import type { OutputBook } from "./output-book.ts";
import type { OwnedOutput } from "./owned-output.ts";

/** Places, ascending, of the outputs that the newest block, which is at a height, has brought. */
function placesIn(outputs: OutputBook, height: number): number[] {
  return outputs.placesFrom(height).filter((place) => outputs.heightOf(place) === height);
}

/** Places, ascending, of the outputs that some transactions (hex ids) in blocks from a height on have brought. */
export function placesOfTransactions(
  outputs: OutputBook,
  height: number,
  ids: ReadonlySet<string>,
): number[] {
  return outputs.placesFrom(height).filter((place) => ids.has(toHex(outputs.txHashAt(place))));
}

/**
 * Hex ids of the transactions of which an output at some places has replaced one, or was replaced: what such a
 * transaction has brought depends on another.
 */
export function dependentIds(outputs: OutputBook, places: readonly number[]): Set<string> {
  const ids = new Set<string>();
  for (const place of places)
    if (outputs.hasReplaced(place))
      for (let each: OwnedOutput | undefined = outputs.at(place); each !== undefined; each = each.replaces)
        ids.add(toHex(each.txHash));
  return ids;
}

/**
 * Ids of the last transactions of the newest block, which is at a height, that together have brought about `most`
 * outputs; none if all that is left are so few. Those that depend on others are left out.
 */
export function lastTransactions(outputs: OutputBook, height: number, most: number): Uint8Array[] {
  const places = placesIn(outputs, height);
  const dependent = dependentIds(outputs, places);
  const ids = new Map<string, Uint8Array>();
  let left = places.length;
  for (let at = places.length - 1, count = 0; at >= 0 && left > most; at--) {
    const txHash = outputs.txHashAt(places[at]!);
    const id = toHex(txHash);
    if (dependent.has(id)) continue;
    if (count >= most && !ids.has(id)) break;
    ids.set(id, txHash);
    count += 1;
    left -= 1;
  }
  return [...ids.values()];
}
