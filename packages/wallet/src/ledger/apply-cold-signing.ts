/** How imported outputs and key images change the ledger. Pure. */
import { equalBytes, fromHex, toHex } from "@anulo/protocol";
import type { SpentStatus, WalletChange } from "../changes.ts";
import { isImported } from "../cold-signing/exported-outputs.ts";
import { SOMEBODY } from "../outputs/owned-output.ts";
import { applyLearnt, coverSubaddress } from "./apply-blocks.ts";
import type { Ledger } from "./ledger.ts";

type Change<K extends WalletChange["kind"]> = Extract<WalletChange, { kind: K }>;

/** Stores imported outputs at their positions; data that a scan has found is not replaced. */
export function applyImportedOutputs(ledger: Ledger, change: Change<"importedOutputs">): void {
  const { state } = ledger;
  const { offset, outputs, total = offset + outputs.length } = change;
  for (const [i, imported] of outputs.entries()) {
    const existing = state.outputs.at(offset + i);
    if (existing !== undefined && equalBytes(existing.oneTimeKey, imported.oneTimeKey)) continue;
    if (existing === undefined) state.outputs.push(imported);
    else state.outputs.replace(offset + i, imported);
    coverSubaddress(ledger, imported.subaddress);
  }
  let { count } = state.outputs;
  while (count > total && isImported(state.outputs.at(count - 1)!)) count -= 1;
  state.outputs.truncate(count);
  // Parts come one after the other: the key images of all of them are requested.
  state.requestedFrom = Math.min(state.requestedFrom ?? offset, offset);
}

function applyStatus({ state: { outputs } }: Ledger, place: number, status: SpentStatus): void {
  const { spentHeight, pendingSpend } = outputs.hotAt(place);
  outputs.spend(place, status === "chain" ? (spentHeight ?? 0) : undefined);
  if (status === "pool") outputs.reserve(place, pendingSpend ?? SOMEBODY);
  else if (status === "chain" || pendingSpend === SOMEBODY) outputs.reserve(place, undefined);
}

/** Stores key images of outputs from `offset` on, and which of them are spent in the chain. */
export function applyKeyImages(ledger: Ledger, change: Change<"keyImages">): void {
  const { offset, keyImages, spent, transactions } = change;
  const { state, touched } = ledger;
  const { outputs, coldKeyImages } = state;
  for (const [i, keyImage] of keyImages.entries()) {
    const output = outputs.at(offset + i);
    if (output === undefined) continue;
    outputs.learnKeyImage(offset + i, keyImage);
    touched.key("coldKeyImages", toHex(output.oneTimeKey));
    coldKeyImages.set(toHex(output.oneTimeKey), keyImage);
    const status = spent[i];
    if (status !== undefined) applyStatus(ledger, offset + i, status);
  }
  const { requestedFrom = 0 } = state;
  if (offset <= requestedFrom) state.requestedFrom = Math.max(requestedFrom, offset + keyImages.length);
  applyLearnt(ledger, transactions);
}

/** Stores where outputs with known key images are spent. */
export function applySpent(ledger: Ledger, { status }: Change<"spent">): void {
  for (const [keyImage, each] of status) {
    const place = ledger.state.outputs.placeOfImage(fromHex(keyImage));
    if (place !== undefined) applyStatus(ledger, place, each);
  }
}

/** Stores key images of outputs that are not found yet, by one-time key. */
export function applyColdKeyImages({ state, touched }: Ledger, { images }: Change<"coldKeyImages">): void {
  for (const { oneTimeKey, keyImage } of images) {
    touched.key("coldKeyImages", toHex(oneTimeKey));
    state.coldKeyImages.set(toHex(oneTimeKey), keyImage);
  }
}
