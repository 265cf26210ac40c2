/** Reverts the effects of blocks, when the chain is reorganised or scanned again. */
import { toHex } from "@anulo/protocol";
import { keepWhere } from "../lists.ts";
import type { OutputBook } from "../outputs/output-book.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { type Ledger, put } from "./ledger.ts";

/**
 * Undoes every block from `height` on; `isReorganised`: since the chain has others. Data that only this wallet has
 * (transaction keys, destinations) stays.
 */
export function detachFrom(ledger: Ledger, height: number, isReorganised = false): void {
  const { state } = ledger;
  // A reorganisation amid blocks that are scanned again anyway counts as part of that.
  const isNews = isReorganised && (state.reorganisedFrom > 0 || state.rescanTo === 0);
  state.reorganisedFrom = isNews ? Math.max(1, Math.min(height, state.reorganisedFrom || height)) : 0;
  detachOutputs(ledger, height);
  state.incoming.removeAbove(height);
  detachOutgoing(ledger, height);
  moveBack(ledger, height);
}

/**
 * Undoes all blocks, to be scanned again: in a fraction of the time, since nothing that remains has to be found. No
 * payment may be confirmed any more.
 */
export function detachAll(ledger: Ledger): void {
  const { state } = ledger;
  state.reorganisedFrom = 0;
  for (const place of state.outputs.frozen()) noteFrozen(ledger, state.outputs.at(place)!);
  state.outputs.clear();
  if (state.requestedFrom !== undefined) state.requestedFrom = 0;
  state.incoming.clear();
  moveBack(ledger, 0);
}

/** Goes on scanning from a height. */
function moveBack(ledger: Ledger, height: number): void {
  const { state } = ledger;
  state.rescanTo = Math.max(state.rescanTo, state.height);
  state.partId = new Uint8Array(0);
  detachRecent(ledger, height);
  detachBackground(ledger, height);
  state.height = Math.min(state.height, Math.max(1, height));
}

function detachBackground({ state: { background }, touched }: Ledger, height: number): void {
  if (background === undefined) return;
  const { transactions } = background;
  const first = transactions.findIndex((transaction) => transaction.height >= height);
  if (first !== -1) touched.from("backgroundTransactions", first);
  keepWhere(transactions, (transaction) => transaction.height < height);
  background.fromHeight = Math.min(background.fromHeight, Math.max(1, height));
}

function detachRecent({ state: { recent }, touched }: Ledger, height: number): void {
  touched.recent(height);
  recent.truncate(height);
}

function detachOutputs(ledger: Ledger, height: number): void {
  const { state } = ledger;
  const { outputs } = state;
  const removedPlaces: number[] = [];
  for (const place of outputs.placesFrom(height)) {
    // Most have nothing that remains, and are not read as a whole to find that out.
    const mayBeKept = outputs.hasReplaced(place) || outputs.isFrozen(place);
    const output = mayBeKept ? keptOutput(ledger, outputs.at(place)!, height) : undefined;
    if (output !== undefined) outputs.replace(place, output);
    else removedPlaces.push(place);
  }
  removeOutputs(outputs, removedPlaces);
  for (const place of outputs.spentFrom(height)) {
    outputs.spend(place, undefined);
    outputs.freeze(place, false);
  }
  if (state.requestedFrom !== undefined) state.requestedFrom = Math.min(state.requestedFrom, outputs.count);
}

/** Removes the outputs at some places (ascending), which are usually the newest of all. */
function removeOutputs(outputs: OutputBook, places: readonly number[]): void {
  const [first] = places;
  if (first === undefined) return;
  const remaining: OwnedOutput[] = [];
  for (let place = first, next = 0; place - first - next < outputs.count - first - places.length; place++)
    if (places[next] === place) next += 1;
    else remaining.push(outputs.at(place)!);
  outputs.truncate(first);
  for (const output of remaining) outputs.push(output);
}

/** The output itself, or the last one that it replaces, from a block below the height. */
function keptOutput(ledger: Ledger, newest: OwnedOutput, height: number): OwnedOutput | undefined {
  let output: OwnedOutput | undefined = newest;
  while (output !== undefined && output.height >= height) output = output.replaces;
  if (output === undefined) noteFrozen(ledger, newest);
  // Both have the same key image: what was learnt or decided of the newest is true of the one that remains.
  const { keyImage, frozen, pendingSpend } = newest;
  return output && { ...output, keyImage, frozen, pendingSpend };
}

/** An output that its owner has frozen is frozen again when it is found again. */
function noteFrozen(
  { state: { frozenBefore }, touched }: Ledger,
  { frozen, keyImage }: Pick<OwnedOutput, "frozen" | "keyImage">,
): void {
  if (!frozen || keyImage === undefined) return;
  touched.item("frozenBefore", frozenBefore.length);
  frozenBefore.push(toHex(keyImage));
}

function detachOutgoing(ledger: Ledger, height: number): void {
  const { state } = ledger;
  for (const payment of state.outgoing.confirmedFrom(height)) {
    const id = toHex(payment.txHash);
    const isMadeHere = payment.blob !== undefined || state.txKeys.has(id) || payment.destinations.length > 0;
    if (!isMadeHere) {
      state.outgoing.delete(id); // the chain is all that tells of it
      continue;
    }
    const undone = { state: "pending", height: 0, timestamp: payment.createdAt, isUndone: true } as const;
    put(ledger, "outgoing", [[id, { ...payment, ...undone }]]);
    for (const image of payment.keyImages) {
      const place = ledger.state.outputs.placeOfImage(image);
      if (place !== undefined) state.outputs.reserve(place, id);
    }
  }
}
