import { randomBytes } from "node:crypto";
import { concatBytes, equalBytes, wipe } from "../bytes.ts";
import { backend } from "../engine.ts";
import { H, pointAdd, scalarMult, scalarMultBase } from "../point.ts";
import { type RandomSource, scFromUint64 } from "../scalar.ts";

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

const WEIGHT_BYTES = 16;

/**
 * Whether each commitment is mask·G + amount·H, all at once: `masks` and `commitments` of 32·n bytes, `amounts` in
 * atomic units. The equations are summed under random weights, so false ones pass with a probability of 2⁻¹²⁷; odd
 * weights, so that a single point outside the main subgroup never passes.
 */
export function commitmentsOpen(
  openings: { masks: Uint8Array; amounts: readonly bigint[]; commitments: Uint8Array },
  random: RandomSource = randomBytes,
): boolean {
  const { masks, amounts, commitments } = openings;
  const weights = new Uint8Array(masks.length);
  const drawn = random(WEIGHT_BYTES * amounts.length);
  for (let i = 0; i < amounts.length; i++) {
    weights.set(drawn.subarray(WEIGHT_BYTES * i, WEIGHT_BYTES * (i + 1)), 32 * i);
    weights[32 * i]! |= 1;
  }
  const values = concatBytes(...amounts.map(scFromUint64));
  const [mask, value] = [masks, values].map((each) => backend.vector.innerProduct(weights, each));
  const expected = pointAdd(scalarMultBase(mask!), scalarMult(value!, H));
  wipe(values, mask!, value!);
  const sum = backend.multiexpVartime({ scalars: weights, points: commitments });
  return sum !== undefined && equalBytes(sum, expected);
}

/** An amount everybody sees, for the backend; throws `RangeError` outside 64 bits. */
function visible(amount: bigint): BigUint64Array {
  if (amount < 0n || amount >= 2n ** 64n) throw new RangeError("not an unsigned 64-bit integer");
  return BigUint64Array.of(amount);
}

/** G + amount·H: the commitment to a public amount, as of a coinbase output. Source: rctOps.cpp `zeroCommit`. */
export function commitZeroMask(amount: bigint): Uint8Array {
  return backend.commitVartime(visible(amount), 1);
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
  const feePoint = backend.commitVartime(visible(fee), 0);
  const received = backend.pointSum(concatBytes(...inputs));
  const spent = backend.pointSum(concatBytes(...outputs, feePoint));
  return received !== undefined && spent !== undefined && equalBytes(received, spent);
}
