/**
 * The amounts that an address receives in a transaction, computed from the shared secrets. Source: wallet2.cpp
 * `check_tx_key_helper`.
 */
import {
  commit,
  commitmentMask,
  decodeAmount,
  decodeMaskAndAmount,
  derivationToScalar,
  derivePublicKey,
  deriveViewTag,
  InvalidPoint,
} from "@anulo/crypto";
import { forEachSliced } from "@anulo/limits";
import { equalBytes, type Transaction, type TxOutput } from "@anulo/protocol";

/** Derivations, 32 bytes each; undefined for one that isn't proven. `additional[i]` is for output i alone. */
export type Derivations = {
  readonly main: Uint8Array | undefined;
  readonly additional: readonly (Uint8Array | undefined)[];
};

type Place = { readonly output: TxOutput; readonly outputIndex: number };

function pays({ output, outputIndex }: Place, derivation: Uint8Array, spendPublic: Uint8Array): boolean {
  const { target } = output;
  if (target.type !== "key" && target.type !== "taggedKey") return false;
  if (target.type === "taggedKey" && deriveViewTag(derivation, outputIndex) !== target.viewTag) return false;
  try {
    return equalBytes(derivePublicKey(derivation, outputIndex, spendPublic), target.key);
  } catch (error) {
    if (error instanceof InvalidPoint) return false;
    throw error;
  }
}

type Paid = Pick<Transaction, "prefix" | "ringct">;

/** An amount with a derivation that fits its output; an encrypted one with the values that must open its commitment. */
export type AmountOpening =
  | { readonly amount: bigint; readonly commitment?: undefined }
  | HiddenAmountOpening;
export type HiddenAmountOpening = {
  readonly amount: bigint;
  readonly mask: Uint8Array;
  readonly commitment: Uint8Array;
};

/** The amount of an output as stored, with a derivation that fits the output. */
export function amountOpening(
  { prefix, ringct }: Paid,
  outputIndex: number,
  derivation: Uint8Array,
): AmountOpening {
  const { amount } = prefix.outputs[outputIndex]!;
  if (prefix.version === 1 || ringct === undefined || ringct.type === 0) return { amount };
  const info = ringct.ecdhInfo[outputIndex];
  const commitment = ringct.outputCommitments[outputIndex];
  if (info === undefined || commitment === undefined) return { amount: 0n };
  const amountKey = derivationToScalar(derivation, outputIndex);
  if ("mask" in info) return { ...decodeMaskAndAmount(info, amountKey), commitment };
  return { mask: commitmentMask(amountKey), amount: decodeAmount(info.amount, amountKey), commitment };
}

/** The amount, or 0 if an encrypted amount doesn't open its commitment. */
function openedAmount(paid: Paid, outputIndex: number, derivation: Uint8Array): bigint {
  const opening = amountOpening(paid, outputIndex, derivation);
  if (opening.commitment === undefined) return opening.amount;
  return equalBytes(commit(opening.mask, opening.amount), opening.commitment) ? opening.amount : 0n;
}

/** Atomic units that the address with this spend key receives, computed in slices. */
export async function receivedBy(
  spendPublic: Uint8Array,
  transaction: Paid,
  { main, additional }: Derivations,
): Promise<bigint> {
  let received = 0n;
  await forEachSliced(transaction.prefix.outputs.entries(), ([outputIndex, output]) => {
    const candidates = [main, additional[outputIndex]];
    const fitting = candidates.find(
      (each) => each !== undefined && pays({ output, outputIndex }, each, spendPublic),
    );
    if (fitting !== undefined) received += openedAmount(transaction, outputIndex, fitting);
  });
  return received;
}
