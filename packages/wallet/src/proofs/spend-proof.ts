/**
 * Proof of having created a transaction: ring signatures over its own rings, which only the owner of its inputs can
 * create.
 * Source: wallet2.cpp `get_spend_proof`, `check_spend_proof`.
 */
import { checkRingSignature, generateRingSignature, keccak256, type RandomSource, wipe } from "@anulo/crypto";
import { encodeBase58, equalBytes } from "@anulo/protocol";
import { mapPatiently } from "../turns.ts";
import { decodeProofText, proofRefusal, SIGNATURE_LETTERS } from "./text.ts";
import type { RingOfInput } from "./transactions.ts";

const HEADER = "SpendProofV1";

export type SpendClaim = {
  /** 32 bytes. */
  readonly txHash: Uint8Array;
  /** Bytes that the proof depends on. */
  readonly message: Uint8Array;
  readonly rings: readonly RingOfInput[];
};

/** The one-time key pair of an input, 32 bytes each; the secret is wiped after use. */
export type InputOwner = { readonly oneTimeKey: Uint8Array; readonly secretKey: Uint8Array };

const prefixHashOf = ({ txHash, message }: SpendClaim): Uint8Array => keccak256(txHash, message);

/** The proof as text. `ownerOf` returns the key pair of each input. Throws `WalletRefusal`. */
export async function proveSpent(
  claim: SpendClaim,
  ownerOf: (keyImage: Uint8Array) => InputOwner,
  random?: RandomSource,
): Promise<string> {
  const prefixHash = prefixHashOf(claim);
  const signatures = await mapPatiently(claim.rings, ({ keyImage, keys }) => {
    const { oneTimeKey, secretKey } = ownerOf(keyImage);
    try {
      const realIndex = keys.findIndex((key) => equalBytes(key, oneTimeKey));
      if (realIndex === -1) throw proofRefusal("secret index not found");
      const statement = { prefixHash, keyImage, publicKeys: keys };
      return generateRingSignature(statement, { secretKey, realIndex }, random);
    } finally {
      wipe(secretKey);
    }
  });
  return HEADER + signatures.flat().map(encodeBase58).join("");
}

/** Checks that text begins like a proof of spending; throws `WalletRefusal` otherwise. */
export function checkSpendHeader(text: string): void {
  if (!text.startsWith(HEADER)) throw proofRefusal("Signature header check error");
}

/** Whether text has the length of a proof over rings of `members` outputs in total. */
export function fitsRings(text: string, members: number): boolean {
  return text.length === HEADER.length + members * SIGNATURE_LETTERS;
}

/** Whether the text proves the claim. Throws `WalletRefusal` for text that is not a proof. */
export async function checkSpendProof(claim: SpendClaim, text: string): Promise<boolean> {
  checkSpendHeader(text);
  const members = claim.rings.reduce((sum, { keys }) => sum + keys.length, 0);
  if (!fitsRings(text, members)) return false;
  const signatures = Array.from({ length: members }, (_, i) => {
    const at = HEADER.length + i * SIGNATURE_LETTERS;
    return decodeProofText(text.slice(at, at + SIGNATURE_LETTERS));
  });
  const prefixHash = prefixHashOf(claim);
  let next = 0;
  const verdicts = await mapPatiently(claim.rings, ({ keyImage, keys }) => {
    const ringSignatures = signatures.slice(next, next + keys.length);
    next += keys.length;
    return checkRingSignature({ prefixHash, keyImage, publicKeys: keys }, ringSignatures);
  });
  return verdicts.every(Boolean);
}
