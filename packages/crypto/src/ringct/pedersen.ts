import { concatBytes, equalBytes, wipe } from "../bytes.ts";
import { backend } from "../engine.ts";
import { G, H, pointAdd, requirePoint, scalarMult, scalarMultBase } from "../point.ts";
import { scFromUint64 } from "../scalar.ts";

const ONE = scFromUint64(1n);

/**
 * The commitment mask·G + amount·H to an amount in atomic units, 32 bytes.
 * Throws `RangeError` outside 64 bits. Source: rctOps.cpp `commit`.
 */
export function commit(mask: Uint8Array, amount: bigint): Uint8Array {
  const factor = scFromUint64(amount);
  const [blinding, value] = [scalarMultBase(mask), scalarMult(factor, H)];
  const commitment = pointAdd(blinding, value);
  wipe(factor, blinding, value);
  return commitment;
}

/** G + amount·H: the commitment of an amount everybody sees, as a coinbase output's. Source: rctOps.cpp `zeroCommit`. */
export function commitZeroMask(amount: bigint): Uint8Array {
  const terms = { a: scFromUint64(amount), A: H, b: ONE, B: G };
  return requirePoint(backend.doubleScalarMultVartime(terms), "generator");
}

/**
 * Whether Σ inputs = Σ outputs + fee·H, for commitments of 32 bytes and a fee in atomic units.
 * False where one is no point. Source: rctSigs.cpp `verRctSemanticsSimple`.
 */
export function commitmentsBalance(
  inputs: readonly Uint8Array[],
  outputs: readonly Uint8Array[],
  fee: bigint,
): boolean {
  const feePoint = backend.scalarMult(scFromUint64(fee), H)!;
  const received = backend.pointSum(concatBytes(...inputs));
  const spent = backend.pointSum(concatBytes(...outputs, feePoint));
  return received !== undefined && spent !== undefined && equalBytes(received, spent);
}
