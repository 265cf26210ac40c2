/** Outputs whose spends cannot be recognised, by the global indices with which a ring refers to them. */
import type { Transaction } from "@anulo/protocol";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import type { ScannedOutput } from "../state.ts";

/** Global indices by amount, which is 0 for RingCT. */
export type WatchedOutputs = Map<bigint, Set<bigint>>;

type Placed = Pick<ScannedOutput, "rct" | "amount" | "globalIndex">;

/** Adds an output. */
export function watch(watched: WatchedOutputs, { rct, amount, globalIndex }: Placed): void {
  const key = rct ? 0n : amount;
  const places = watched.get(key);
  if (places === undefined) watched.set(key, new Set([globalIndex]));
  else places.add(globalIndex);
}

/** The outputs of a wallet whose key images are not known. */
export function watchedOutputs(outputs: Iterable<OwnedOutput>): WatchedOutputs {
  const watched: WatchedOutputs = new Map();
  for (const output of outputs) if (output.keyImage === undefined) watch(watched, output);
  return watched;
}

/** Whether a ring of the transaction contains one of the outputs. Source: wallet2.cpp `process_new_transaction`. */
export function namesWatched(watched: WatchedOutputs, { prefix }: Transaction): boolean {
  for (const input of prefix.inputs) {
    if (input.type !== "key") continue;
    const places = watched.get(input.amount);
    if (places === undefined) continue;
    let place = 0n;
    for (const offset of input.keyOffsets) {
      place += offset;
      if (places.has(place)) return true;
    }
  }
  return false;
}
