/** How imported outputs and key images change the ledger. Pure. */
import { equalBytes, toHex } from "@anulo/protocol";
import type { SpentStatus, WalletChange } from "../changes.ts";
import { isImported } from "../cold-signing/exported-outputs.ts";
import { type OwnedOutput, SOMEBODY } from "../state.ts";
import { applyLearnt, coverSubaddress, indexOutput } from "./apply-blocks.ts";
import type { Ledger } from "./ledger.ts";

type Change<K extends WalletChange["kind"]> = Extract<WalletChange, { kind: K }>;

/** Puts imported outputs in their places; what a scan has found stays as it is. */
export function applyImportedOutputs(ledger: Ledger, change: Change<"importedOutputs">): void {
  const { state } = ledger;
  const { offset, outputs, total = offset + outputs.length } = change;
  for (const [i, imported] of outputs.entries()) {
    const known = state.outputs[offset + i];
    if (known !== undefined && equalBytes(known.oneTimeKey, imported.oneTimeKey)) continue;
    const output = { ...imported };
    state.outputs[offset + i] = output;
    indexOutput(ledger, output);
    coverSubaddress(state, output.subaddress);
  }
  while (state.outputs.length > total && isImported(state.outputs.at(-1)!)) {
    const gone = state.outputs.pop()!;
    ledger.byOneTimeKey.delete(toHex(gone.oneTimeKey));
    if (gone.keyImage !== undefined) ledger.byKeyImage.delete(toHex(gone.keyImage));
  }
  // Parts come one after the other: the key images of all of them are wanted.
  state.requestedFrom = Math.min(state.requestedFrom ?? offset, offset);
}

function applyStatus(output: OwnedOutput, status: SpentStatus): void {
  if (status === "chain") output.spentHeight ??= 0;
  else output.spentHeight = undefined;
  if (status === "pool") output.pendingSpend ??= SOMEBODY;
  else if (status === "chain" || output.pendingSpend === SOMEBODY) output.pendingSpend = undefined;
}

/** Key images of outputs from `offset` on, and which of them are spent in the chain. */
export function applyKeyImages(ledger: Ledger, change: Change<"keyImages">): void {
  const { offset, keyImages, spent, transactions } = change;
  const { outputs, coldKeyImages } = ledger.state;
  for (const [i, keyImage] of keyImages.entries()) {
    const output = outputs[offset + i];
    if (output === undefined) continue;
    output.keyImage = keyImage;
    coldKeyImages.set(toHex(output.oneTimeKey), keyImage);
    ledger.byKeyImage.set(toHex(keyImage), output);
    const status = spent[i];
    if (status !== undefined) applyStatus(output, status);
  }
  const { requestedFrom = 0 } = ledger.state;
  if (offset <= requestedFrom)
    ledger.state.requestedFrom = Math.max(requestedFrom, offset + keyImages.length);
  for (const transaction of transactions) applyLearnt(ledger, transaction);
}

/** What spends outputs whose key images are known. */
export function applySpent({ byKeyImage }: Ledger, { status }: Change<"spent">): void {
  for (const [keyImage, each] of status) {
    const output = byKeyImage.get(keyImage);
    if (output !== undefined) applyStatus(output, each);
  }
}

/** Key images of outputs that will be found, by one-time key. */
export function applyColdKeyImages({ state }: Ledger, { images }: Change<"coldKeyImages">): void {
  for (const { oneTimeKey, keyImage } of images) state.coldKeyImages.set(toHex(oneTimeKey), keyImage);
}
