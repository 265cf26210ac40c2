/** How imported outputs and key images change the ledger. Pure. */
import { equalBytes, toHex } from "@anulo/protocol";
import type { SpentStatus, WalletChange } from "../changes.ts";
import { isImported } from "../cold-signing/exported-outputs.ts";
import { type OwnedOutput, SOMEBODY } from "../state.ts";
import { applyLearnt, coverSubaddress } from "./apply-blocks.ts";
import { indexOutput, type Ledger, touchOutput, unindexOutput } from "./ledger.ts";

type Change<K extends WalletChange["kind"]> = Extract<WalletChange, { kind: K }>;

/** Stores imported outputs at their positions; data that a scan has found is not replaced. */
export function applyImportedOutputs(ledger: Ledger, change: Change<"importedOutputs">): void {
  const { state, touched } = ledger;
  const { offset, outputs, total = offset + outputs.length } = change;
  for (const [i, imported] of outputs.entries()) {
    const known = state.outputs[offset + i];
    if (known !== undefined && equalBytes(known.oneTimeKey, imported.oneTimeKey)) continue;
    if (known !== undefined) unindexOutput(ledger, known, offset + i);
    const output = { ...imported };
    state.outputs[offset + i] = output;
    touched.item("outputs", offset + i);
    indexOutput(ledger, output, offset + i);
    coverSubaddress(ledger, output.subaddress);
  }
  while (state.outputs.length > total && isImported(state.outputs.at(-1)!)) {
    const gone = state.outputs.pop()!;
    touched.from("outputs", state.outputs.length);
    unindexOutput(ledger, gone, state.outputs.length);
  }
  // Parts come one after the other: the key images of all of them are requested.
  state.requestedFrom = Math.min(state.requestedFrom ?? offset, offset);
}

function applyStatus(output: OwnedOutput, status: SpentStatus): void {
  if (status === "chain") output.spentHeight ??= 0;
  else output.spentHeight = undefined;
  if (status === "pool") output.pendingSpend ??= SOMEBODY;
  else if (status === "chain" || output.pendingSpend === SOMEBODY) output.pendingSpend = undefined;
}

/** Stores key images of outputs from `offset` on, and which of them are spent in the chain. */
export function applyKeyImages(ledger: Ledger, change: Change<"keyImages">): void {
  const { offset, keyImages, spent, transactions } = change;
  const { state, touched } = ledger;
  const { outputs, coldKeyImages } = state;
  for (const [i, keyImage] of keyImages.entries()) {
    const output = outputs[offset + i];
    if (output === undefined) continue;
    output.keyImage = keyImage;
    touched.item("outputs", offset + i);
    touched.key("coldKeyImages", toHex(output.oneTimeKey));
    coldKeyImages.set(toHex(output.oneTimeKey), keyImage);
    ledger.byKeyImage.set(toHex(keyImage), offset + i);
    const status = spent[i];
    if (status !== undefined) applyStatus(output, status);
  }
  const { requestedFrom = 0 } = state;
  if (offset <= requestedFrom) state.requestedFrom = Math.max(requestedFrom, offset + keyImages.length);
  for (const transaction of transactions) applyLearnt(ledger, transaction);
}

/** Stores where outputs with known key images are spent. */
export function applySpent(ledger: Ledger, { status }: Change<"spent">): void {
  for (const [keyImage, each] of status) {
    const output = touchOutput(ledger, keyImage);
    if (output !== undefined) applyStatus(output, each);
  }
}

/** Stores key images of outputs that are not found yet, by one-time key. */
export function applyColdKeyImages({ state, touched }: Ledger, { images }: Change<"coldKeyImages">): void {
  for (const { oneTimeKey, keyImage } of images) {
    touched.key("coldKeyImages", toHex(oneTimeKey));
    state.coldKeyImages.set(toHex(oneTimeKey), keyImage);
  }
}
