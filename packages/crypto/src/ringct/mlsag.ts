/**
 * MLSAG: the ring signatures of RCT types 1 to 4, over columns of keys of which one is the signer's.
 * Source: Noether, https://eprint.iacr.org/2015/1098; rctSigs.cpp `MLSAG_Ver`, `verRctMG`, `verRctMGSimple`.
 */
import { concatBytes, elementAt, equalBytes, repeatElement } from "../bytes.ts";
import { backend } from "../engine.ts";
import { G, H, hashToScalar, IDENTITY } from "../point.ts";
import { scFromUint64, scIsCanonical, scIsZero } from "../scalar.ts";
import type { RingMember } from "./clsag.ts";

/** A proof as on the wire: `ss[ring member][row]` and the first challenge. */
export type Mlsag = { ss: readonly (readonly Uint8Array[])[]; cc: Uint8Array };

/** `columns[ring member][row]`; the first rows have key images, as many as there are. */
type MlsagStatement = { message: Uint8Array; columns: Uint8Array[][]; keyImages: readonly Uint8Array[] };

/** Whether the proof of one input holds (RCT types 2 to 4); false on anything malformed. */
export function verifyMlsagSimple(input: {
  message: Uint8Array;
  ring: readonly RingMember[];
  pseudoOut: Uint8Array;
  keyImage: Uint8Array;
  proof: Mlsag;
}): boolean {
  const { message, ring, pseudoOut, keyImage, proof } = input;
  if (![pseudoOut, ...ring.flatMap(elementsOfMember)].every(isElement)) return false;
  const differences = ring.map(({ commitment }) => backend.pointSub(commitment, pseudoOut));
  if (!differences.every((point) => point !== undefined)) return false;
  const columns = ring.map(({ key }, i) => [key, differences[i]!]);
  return verifyColumns({ message, columns, keyImages: [keyImage] }, proof);
}

/**
 * Whether the one proof of all inputs holds (RCT type 1), which also proves that amounts balance; false on anything
 * malformed. `rings[input][ring member]`, the real ones all at the same place; fee in atomic units.
 */
export function verifyMlsagFull(transaction: {
  message: Uint8Array;
  rings: readonly (readonly RingMember[])[];
  outputCommitments: readonly Uint8Array[];
  fee: bigint;
  keyImages: readonly Uint8Array[];
  proof: Mlsag;
}): boolean {
  const { message, rings, outputCommitments, fee, keyImages, proof } = transaction;
  const size = rings[0]?.length ?? 0;
  if (rings.length !== keyImages.length || !rings.every(({ length }) => length === size)) return false;
  if (![...outputCommitments, ...rings.flat().flatMap(elementsOfMember)].every(isElement)) return false;
  const feePoint = backend.scalarMult(scFromUint64(fee), H)!;
  const spent = backend.pointSum(concatBytes(...outputCommitments, feePoint));
  const columns: Uint8Array[][] = [];
  for (let i = 0; i < size; i++) {
    const members = rings.map((ring) => ring[i]!);
    const received = backend.pointSum(concatBytes(...members.map(({ commitment }) => commitment)));
    const difference = received && spent && backend.pointSub(received, spent);
    if (difference === undefined) return false;
    columns.push([...members.map(({ key }) => key), difference]);
  }
  return verifyColumns({ message, columns, keyImages }, proof);
}

function elementsOfMember({ key, commitment }: RingMember): Uint8Array[] {
  return [key, commitment];
}

function isElement({ length }: Uint8Array): boolean {
  return length === 32;
}

function verifyColumns(statement: MlsagStatement, { ss, cc }: Mlsag): boolean {
  const { message, columns, keyImages } = statement;
  const rows = columns[0]?.length ?? 0;
  if (columns.length < 2 || ss.length !== columns.length || !ss.every(({ length }) => length === rows))
    return false;
  if (![message, cc, ...keyImages, ...ss.flat()].every(isElement)) return false;
  if (![cc, ...ss.flat()].every(scIsCanonical)) return false;
  if (keyImages.some((image) => equalBytes(image, IDENTITY) || !backend.isPoint(image))) return false;
  let challenge = cc;
  for (const [i, column] of columns.entries()) {
    const next = nextChallenge(statement, { column, s: concatBytes(...ss[i]!) }, challenge);
    if (next === undefined || scIsZero(next)) return false;
    challenge = next;
  }
  return equalBytes(challenge, cc);
}

/** Hs(message ‖ P ‖ L ‖ R for rows with a key image ‖ P ‖ L for the others), L = sG + cP, R = s·Hp(P) + cI. */
function nextChallenge(
  { message, keyImages }: MlsagStatement,
  { column, s }: { column: readonly Uint8Array[]; s: Uint8Array },
  challenge: Uint8Array,
): Uint8Array | undefined {
  const linked = keyImages.length;
  const keys = concatBytes(...column);
  const a = repeatElement(challenge, column.length);
  const L = backend.doubleScalarMultVartime({ a, A: keys, b: s, B: repeatElement(G, column.length) });
  const R = backend.doubleScalarMultVartime({
    a: a.subarray(0, 32 * linked),
    A: concatBytes(...keyImages),
    b: s.subarray(0, 32 * linked),
    B: backend.hashToPoint(keys.subarray(0, 32 * linked)),
  });
  if (L === undefined || R === undefined) return undefined;
  const hashed = column.flatMap((key, row) => {
    const line = [key, elementAt(L, row)];
    return row < linked ? [...line, elementAt(R, row)] : line;
  });
  return hashToScalar(message, ...hashed);
}
