import {
  hashToPoint,
  hashToScalar,
  pointAdd,
  publicKeyOf,
  type RandomSource,
  randomScalar,
  scalarMult,
  scMulSub,
} from "@anulo/crypto";
import type { Mlsag } from "@anulo/protocol";

/** Whose keys stand where: `columns[ring member][row]`; the first rows have key images. */
export type MlsagOrder = {
  readonly message: Uint8Array;
  readonly columns: readonly (readonly Uint8Array[])[];
  readonly keyImages: readonly Uint8Array[];
  /** The secret keys of one column, by row. */
  readonly secrets: readonly Uint8Array[];
  readonly realIndex: number;
  readonly random: RandomSource;
};

/** The ring signature of RCT types 1 to 4. Source: rctSigs.cpp `MLSAG_Gen`. */
export function signMlsag(order: MlsagOrder): Mlsag {
  const { columns, secrets, realIndex, random } = order;
  const nonces = secrets.map(() => randomScalar(random));
  const ss = columns.map((column) => column.map(() => randomScalar(random)));
  const size = columns.length;
  let challenge = nextChallenge(order, realIndex, (row) => [
    publicKeyOf(nonces[row]!),
    scalarMult(nonces[row]!, hashToPoint(columns[realIndex]![row]!)),
  ]);
  let cc = challenge;
  for (let step = 1; step < size; step++) {
    const at = (realIndex + step) % size;
    if (at === 0) cc = challenge;
    const c = challenge;
    challenge = nextChallenge(order, at, (row) => {
      const [s, key] = [ss[at]![row]!, columns[at]![row]!];
      const left = pointAdd(publicKeyOf(s), scalarMult(c, key));
      const image = order.keyImages[row];
      if (image === undefined) return [left, left];
      return [left, pointAdd(scalarMult(s, hashToPoint(key)), scalarMult(c, image))];
    });
  }
  if (realIndex === 0) cc = challenge;
  ss[realIndex] = secrets.map((secret, row) => scMulSub(secret, challenge, nonces[row]!));
  return { ss, cc };
}

function nextChallenge(
  { message, columns, keyImages }: MlsagOrder,
  at: number,
  points: (row: number) => readonly [left: Uint8Array, right: Uint8Array],
): Uint8Array {
  const hashed = columns[at]!.flatMap((key, row) => {
    const [left, right] = points(row);
    return row < keyImages.length ? [key, left, right] : [key, left];
  });
  return hashToScalar(message, ...hashed);
}
