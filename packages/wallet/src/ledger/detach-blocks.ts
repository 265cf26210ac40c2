/** Reverts the effects of blocks, when the chain is reorganised or scanned again. */
import { toHex } from "@anulo/protocol";
import { keepWhere, replaceItems } from "../lists.ts";
import type { OwnedOutput } from "../state.ts";
import { indexOutput, type Ledger, touchOutput } from "./ledger.ts";

/** Undoes every block from `height` on. Data that only this wallet has (transaction keys, destinations) stays. */
export function detachFrom(ledger: Ledger, height: number): void {
  const { state, touched } = ledger;
  state.rescanTo = Math.max(state.rescanTo, state.height);
  detachOutputs(ledger, height);
  const isBelow = (item: { readonly height: number }) => item.height < height;
  const firstIncoming = state.incoming.findIndex((payment) => !isBelow(payment));
  if (firstIncoming !== -1) touched.from("incoming", firstIncoming);
  keepWhere(state.incoming, isBelow);
  detachOutgoing(ledger, height);
  detachRecent(ledger, height);
  detachBackground(ledger, height);
  state.height = Math.min(state.height, Math.max(1, height));
}

function detachBackground({ state: { background }, touched }: Ledger, height: number): void {
  if (background === undefined) return;
  touched.from("backgroundTransactions", 0);
  keepWhere(background.transactions, (transaction) => transaction.height < height);
  background.fromHeight = Math.min(background.fromHeight, Math.max(1, height));
}

function detachRecent({ state: { recent }, touched }: Ledger, height: number): void {
  touched.recent(height);
  if (height <= recent.offset) {
    recent.ids.length = 0;
    recent.offset = Math.max(1, height);
  } else if (height < recent.offset + recent.ids.length) recent.ids.length = height - recent.offset;
}

function detachOutputs(ledger: Ledger, height: number): void {
  const { state, touched } = ledger;
  const { outputs, frozenBefore } = state;
  const kept: OwnedOutput[] = [];
  for (const [place, newest] of outputs.entries()) {
    let output: OwnedOutput | undefined = newest;
    while (output !== undefined && output.height >= height) output = output.replaces;
    if (output === undefined) {
      // An output that its owner has frozen is frozen again when it is found again.
      if (newest.frozen && newest.keyImage !== undefined) {
        touched.item("frozenBefore", frozenBefore.length);
        frozenBefore.push(toHex(newest.keyImage));
      }
      if (kept.length === place) touched.from("outputs", place);
      continue;
    }
    if (output !== newest) touched.item("outputs", kept.length);
    if (output.spentHeight !== undefined && output.spentHeight >= height) {
      output.spentHeight = undefined;
      output.frozen = false;
      touched.item("outputs", kept.length);
    }
    kept.push(output);
  }
  if (state.requestedFrom !== undefined) state.requestedFrom = Math.min(state.requestedFrom, kept.length);
  ledger.byKeyImage.clear();
  ledger.byOneTimeKey.clear();
  replaceItems(outputs, kept);
  for (const [place, output] of kept.entries()) indexOutput(ledger, output, place);
}

function detachOutgoing(ledger: Ledger, height: number): void {
  const { state, touched } = ledger;
  for (const [id, payment] of state.outgoing) {
    if (payment.state !== "confirmed" || payment.height < height) continue;
    const isMadeHere = payment.blob !== undefined || state.txKeys.has(id) || payment.destinations.length > 0;
    if (!isMadeHere) {
      touched.delete("outgoing", id);
      state.outgoing.delete(id); // the chain is all that tells of it
      continue;
    }
    touched.key("outgoing", id);
    Object.assign(payment, { state: "pending", height: 0, timestamp: payment.createdAt, isUndone: true });
    for (const image of payment.keyImages) {
      const output = touchOutput(ledger, toHex(image));
      if (output !== undefined) output.pendingSpend = id;
    }
  }
}
