/** Proofs as text: a header that names the kind, then bytes in base 58. */
import { BadBytes, decodeBase58, encodeBase58 } from "@anulo/protocol";
import { byteStringOf } from "@anulo/rpc";
import { WalletRefusal } from "../refusal.ts";

export const KEY_LETTERS: number = encodeBase58(new Uint8Array(32)).length;
export const SIGNATURE_LETTERS: number = encodeBase58(new Uint8Array(64)).length;

/** The bytes a caller's text stands for, whether they are UTF-8 or not. */
export function bytesOfText(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(byteStringOf(text), "latin1"));
}

/** Bytes of base 58 text; undefined for any other text. */
export function base58Bytes(text: string): Uint8Array | undefined {
  try {
    return decodeBase58(text);
  } catch (error) {
    if (error instanceof BadBytes) return undefined;
    throw error;
  }
}

/** A proof that isn't even one, or can't be made. The original gives all of these the same code. */
export function proofRefusal(message: string): WalletRefusal {
  return new WalletRefusal("UNKNOWN_ERROR", message);
}

/** Bytes of base 58 text; throws `WalletRefusal`. */
export function decodeProofText(text: string): Uint8Array {
  const bytes = base58Bytes(text);
  if (bytes === undefined) throw proofRefusal("Signature decoding error");
  return bytes;
}

const STEPS_AT_ONCE = 16;

/** Maps in order, letting others run now and then: a step is a handful of multiplications of points, unless told. */
export async function mapPatiently<T, R>(
  values: readonly T[],
  step: (value: T) => R,
  { stepsAtOnce = STEPS_AT_ONCE }: { readonly stepsAtOnce?: number } = {},
): Promise<R[]> {
  const results: R[] = [];
  for (const [i, value] of values.entries()) {
    if (i % stepsAtOnce === stepsAtOnce - 1) await new Promise((resolve) => setImmediate(resolve));
    results.push(step(value));
  }
  return results;
}
