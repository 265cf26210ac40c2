/** Rounding by the definition, in integers of any size. Source: IEEE 754-2019, 4.3; RandomX specification 4.3. */

export const FLOAT_OPERATIONS = ["add", "multiply", "divide", "squareRoot"] as const;
export type FloatOperation = (typeof FLOAT_OPERATIONS)[number];

/** Written before each reading. */
const box = new DataView(new ArrayBuffer(8));

/** The 64 bits of a double. */
export const bitsOf = (value: number): bigint => {
  box.setFloat64(0, value);
  return box.getBigUint64(0);
};
/** The double of 64 bits. */
export const fromBits = (bits: bigint): number => {
  box.setBigUint64(0, bits);
  return box.getFloat64(0);
};

/** A finite double as significand · 2^exponent. */
function split(value: number): [bigint, number] {
  box.setFloat64(0, value);
  const high = box.getUint32(0);
  const biased = (high >>> 20) & 0x7ff;
  const fraction = (high & 0xfffff) * 2 ** 32 + box.getUint32(4);
  const magnitude = biased === 0 ? fraction : fraction + 2 ** 52; // below 2^53, so exact
  return [BigInt(value < 0 ? -magnitude : magnitude), Math.max(biased, 1) - 1075];
}

const order = (a: bigint, b: bigint): number => (a === b ? 0 : a > b ? 1 : -1);

/** Sign of x·2^p − y·2^q. */
const compare = (x: bigint, p: number, y: bigint, q: number): number =>
  p > q ? order(x << BigInt(p - q), y) : order(x, y << BigInt(q - p));

/** Sign of the exact result minus the rounded one, in integers of any size. */
function exactSign(operation: FloatOperation, a: number, b: number, rounded: number): number {
  const [x, p] = split(a);
  const [y, q] = split(b);
  const [z, r] = split(rounded);
  if (operation === "multiply") return compare(x * y, p + q, z, r);
  if (operation === "divide") return compare(x, p, z * y, r + q);
  if (operation === "squareRoot") return compare(x, p, z * z, 2 * r);
  const low = Math.min(p, q);
  return compare((x << BigInt(p - low)) + (y << BigInt(q - low)), low, z, r);
}

const nearest: Record<FloatOperation, (a: number, b: number) => number> = {
  add: (a, b) => a + b,
  multiply: (a, b) => a * b,
  divide: (a, b) => a / b,
  squareRoot: (a) => Math.sqrt(a),
};

/** One step up (1) or down (-1) among the doubles, for a nonzero finite number. */
const step = (value: number, direction: number): number =>
  fromBits(bitsOf(value) + BigInt(value > 0 ? direction : -direction));

/**
 * The result (of `a` alone for a square root) in mode 0 to nearest, 1 down, 2 up, 3 to zero: the nearest double, or its
 * neighbour in the direction of the mode. All operands of a product, quotient or root are positive.
 */
export function roundedResult(
  operation: FloatOperation,
  [a, b]: readonly [number, number],
  mode: number,
): number {
  const result = nearest[operation](a, b);
  if (mode === 0 || !Number.isFinite(a)) return result;
  if (result === Number.POSITIVE_INFINITY) return mode === 2 ? result : Number.MAX_VALUE;
  if (result === 0) {
    if (mode !== 1) return result;
    return Object.is(a, 0) && Object.is(b, 0) ? 0 : -0;
  }
  const sign = exactSign(operation, a, b, result);
  const isUp = mode === 2 || (mode === 3 && result < 0);
  if (isUp) return sign > 0 ? step(result, 1) : result;
  return sign < 0 ? step(result, -1) : result;
}
