/** What an address receives in a transaction, seen by whoever has the shared secrets. Source: wallet2.cpp `check_tx_key_helper`. */
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
import { equalBytes, type RingCt, type Transaction, type TxOutput } from "@anulo/protocol";

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

type HiddenAmounts = Exclude<RingCt, { type: 0 }>;
/** The part of a transaction's RingCT that hides its amounts. */
export type PaidAmounts =
  | Extract<RingCt, { type: 0 }>
  | Pick<HiddenAmounts, "type" | "ecdhInfo" | "outputCommitments">;

type Paid = {
  readonly prefix: Pick<Transaction["prefix"], "version" | "outputs">;
  readonly ringct?: PaidAmounts | undefined;
};

/** Amount of an output under a derivation that fits it, 0 where the hidden amount doesn't open its commitment. */
export function openedAmount({ prefix, ringct }: Paid, outputIndex: number, derivation: Uint8Array): bigint {
  const publicAmount = prefix.outputs[outputIndex]!.amount;
  if (prefix.version === 1 || ringct === undefined || ringct.type === 0) return publicAmount;
  const info = ringct.ecdhInfo[outputIndex];
  const commitment = ringct.outputCommitments[outputIndex];
  if (info === undefined || commitment === undefined) return 0n;
  const amountKey = derivationToScalar(derivation, outputIndex);
  const opened =
    "mask" in info
      ? decodeMaskAndAmount(info, amountKey)
      : { mask: commitmentMask(amountKey), amount: decodeAmount(info.amount, amountKey) };
  return equalBytes(commit(opened.mask, opened.amount), commitment) ? opened.amount : 0n;
}

/** Atomic units the address with this spend key receives. */
export function receivedBy(
  spendPublic: Uint8Array,
  transaction: Pick<Transaction, "prefix" | "ringct">,
  { main, additional }: Derivations,
): bigint {
  let received = 0n;
  for (const [outputIndex, output] of transaction.prefix.outputs.entries()) {
    const candidates = [main, additional[outputIndex]];
    const fitting = candidates.find(
      (each) => each !== undefined && pays({ output, outputIndex }, each, spendPublic),
    );
    if (fitting !== undefined) received += openedAmount(transaction, outputIndex, fitting);
  }
  return received;
}
