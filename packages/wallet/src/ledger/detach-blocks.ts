/** Reverts the effects of blocks, when the chain is reorganised or scanned again. */
import { toHex } from "@anulo/protocol";
import { keepWhere } from "../lists.ts";
import { placesOfTransactions } from "../outputs/block-outputs.ts";
import type { OutputBook } from "../outputs/output-book.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import type { Receipts } from "../packed/receipts.ts";
import type { OutgoingPayment, WalletState } from "../state.ts";
import { type Ledger, put } from "./ledger.ts";

/**
 * Undoes every block from `height` on; `isReorganised`: since the chain has others. Data that only this wallet has
 * (transaction keys, destinations) stays.
 */
export function detachFrom(ledger: Ledger, height: number, isReorganised = false): void {
  noteReorganised(ledger, height, isReorganised);
  detachOutputs(ledger, height);
  ledger.state.incoming.removeAbove(height);
  for (const payment of ledger.state.outgoing.confirmedFrom(height)) detachPayment(ledger, payment);
  moveBack(ledger, height);
}

/** Transactions (ids) that are undone; those whose outputs have replaced others, or were replaced, can't be. */
type UndonePart = { readonly ids: readonly Uint8Array[]; readonly isReorganised: boolean };

/** Undoes some transactions in blocks from `height` on, as `detachFrom` does all. */
export function detachTransactions(ledger: Ledger, height: number, { ids, isReorganised }: UndonePart): void {
  const { outputs, incoming } = ledger.state;
  noteReorganised(ledger, height, isReorganised);
  const places = placesOfTransactions(outputs, height, new Set(ids.map(toHex)));
  for (const place of places) if (outputs.isFrozen(place)) noteFrozen(ledger, outputs.at(place)!);
  removeOutputs(outputs, places);
  noteRequested(ledger);
  incoming.removeAt(receiptsIn(incoming, height, ids));
  for (const payment of paymentsIn(ledger.state, height, ids)) {
    for (const image of payment.keyImages) {
      const place = outputs.placeOfImage(image);
      if (place !== undefined && outputs.hotAt(place).spentHeight === payment.height)
        undoSpend(outputs, place);
    }
    detachPayment(ledger, payment);
  }
  moveBack(ledger, height);
}

/** Notes from where on the chain has other blocks, if it has. */
function noteReorganised({ state }: Ledger, height: number, isReorganised: boolean): void {
  // A reorganisation amid blocks that are scanned again anyway counts as part of that.
  const isNews = isReorganised && (state.reorganisedFrom > 0 || state.rescanTo === 0);
  state.reorganisedFrom = isNews ? Math.max(1, Math.min(height, state.reorganisedFrom || height)) : 0;
}

/** Places, ascending, of the receipts that transactions (ids) in blocks from a height on have brought. */
export function receiptsIn(incoming: Receipts, height: number, ids: readonly Uint8Array[]): number[] {
  const places = ids.flatMap((id) => incoming.placesOf(id));
  return places.filter((place) => incoming.lockAt(place).height >= height).sort((a, b) => a - b);
}

/** Those of some transactions (ids) in blocks from a height on that spend. */
export function paymentsIn(
  { outgoing }: Pick<Readonly<WalletState>, "outgoing">,
  height: number,
  ids: readonly Uint8Array[],
): OutgoingPayment[] {
  const payments = ids.map((id) => outgoing.get(toHex(id)));
  return payments
    .filter((it) => it !== undefined)
    .filter((it) => it.state === "confirmed" && it.height >= height);
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
  for (const place of outputs.spentFrom(height)) undoSpend(outputs, place);
  noteRequested(ledger);
}

/** No key image of an output that is gone is requested. */
function noteRequested({ state }: Ledger): void {
  if (state.requestedFrom !== undefined)
    state.requestedFrom = Math.min(state.requestedFrom, state.outputs.count);
}

function undoSpend(outputs: OutputBook, place: number): void {
  outputs.spend(place, undefined);
  outputs.freeze(place, false);
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

/** A payment is in no block any more. */
function detachPayment(ledger: Ledger, payment: OutgoingPayment): void {
  const { state } = ledger;
  const id = toHex(payment.txHash);
  const isMadeHere = payment.blob !== undefined || state.txKeys.has(id) || payment.destinations.length > 0;
  if (!isMadeHere) {
    state.outgoing.delete(id); // the chain is all that tells of it
    return;
  }
  const undone = { state: "pending", height: 0, timestamp: payment.createdAt, isUndone: true } as const;
  put(ledger, "outgoing", [[id, { ...payment, ...undone }]]);
  for (const image of payment.keyImages) {
    const place = state.outputs.placeOfImage(image);
    if (place !== undefined) state.outputs.reserve(place, id);
  }
}
