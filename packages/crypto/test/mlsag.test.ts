import assert from "node:assert/strict";
import { test } from "node:test";
import {
  commit,
  G,
  H,
  hashToPoint,
  hashToScalar,
  IDENTITY,
  keyImageOf,
  type Mlsag,
  pointAdd,
  pointSub,
  publicKeyOf,
  type RingMember,
  randomScalar,
  scAdd,
  scalarMult,
  scalarMultBase,
  scFromUint64,
  scMulSub,
  scSub,
  verifyMlsagFull,
  verifyMlsagSimple,
} from "../src/index.ts";
import { onEachBackend } from "./backends.ts";
import { flipBit, NO_POINT, plusOrder } from "./fixtures.ts";

type Column = { keys: Uint8Array[]; linked: number };

/** What a column hashes to with its L of every row and R of the linked rows. */
function hashColumn(
  message: Uint8Array,
  { keys, linked }: Column,
  L: Uint8Array[],
  R: Uint8Array[],
): Uint8Array {
  return hashToScalar(
    message,
    ...keys.flatMap((key, row) => (row < linked ? [key, L[row]!, R[row]!] : [key, L[row]!])),
  );
}

/** The signer's side, from the paper: as in Noether 2015 §2, nothing shared with the verifier. */
function signMlsag(signing: {
  message: Uint8Array;
  columns: Uint8Array[][];
  secrets: Uint8Array[];
  linked: number;
  realIndex: number;
}): { proof: Mlsag; keyImages: Uint8Array[] } {
  const { message, columns, secrets, linked, realIndex } = signing;
  const real = columns[realIndex]!;
  const keyImages = secrets.slice(0, linked).map((secret, row) => keyImageOf(real[row]!, secret));
  const nonces = secrets.map(() => randomScalar());
  const ss = columns.map((column) => column.map(() => randomScalar()));
  const challenges: Uint8Array[] = [];
  let at = (realIndex + 1) % columns.length;
  challenges[at] = hashColumn(
    message,
    { keys: real, linked },
    nonces.map((nonce) => scalarMultBase(nonce)),
    keyImages.map((_, row) => scalarMult(nonces[row]!, hashToPoint(real[row]!))),
  );
  while (at !== realIndex) {
    const [keys, s, c] = [columns[at]!, ss[at]!, challenges[at]!];
    const L = keys.map((key, row) => pointAdd(scalarMultBase(s[row]!), scalarMult(c, key)));
    const R = keyImages.map((image, row) =>
      pointAdd(scalarMult(s[row]!, hashToPoint(keys[row]!)), scalarMult(c, image)),
    );
    at = (at + 1) % columns.length;
    challenges[at] = hashColumn(message, { keys, linked }, L, R);
  }
  ss[realIndex] = secrets.map((secret, row) => scMulSub(challenges[realIndex]!, secret, nonces[row]!));
  return { proof: { ss, cc: challenges[0]! }, keyImages };
}

const AMOUNT = 5_000_000_000n;

function createRing(size: number, realIndex: number) {
  const [secretKey, mask] = [randomScalar(), randomScalar()];
  const ring: RingMember[] = Array.from({ length: size }, () => ({
    key: publicKeyOf(randomScalar()),
    commitment: commit(randomScalar(), AMOUNT),
  }));
  ring[realIndex] = { key: publicKeyOf(secretKey), commitment: commit(mask, AMOUNT) };
  return { ring, secretKey, mask };
}

onEachBackend("MLSAG", () => {
  test("the proof of one input is accepted, and refused with anything changed", () => {
    const { ring, secretKey, mask } = createRing(5, 3);
    const pseudoMask = randomScalar();
    const pseudoOut = commit(pseudoMask, AMOUNT);
    const message = hashToScalar(G);
    const columns = ring.map(({ key, commitment }) => [key, pointSub(commitment, pseudoOut)]);
    const secrets = [secretKey, scSub(mask, pseudoMask)];
    const { proof, keyImages } = signMlsag({ message, columns, secrets, linked: 1, realIndex: 3 });
    const valid = { message, ring, pseudoOut, keyImage: keyImages[0]!, proof };
    assert.equal(verifyMlsagSimple(valid), true);

    const [head, ...rest] = proof.ss;
    const withHead = (column: readonly Uint8Array[]): Mlsag => ({ ...proof, ss: [column, ...rest] });
    const forgeries = {
      message: { ...valid, message: flipBit(message, 0) },
      pseudoOut: { ...valid, pseudoOut: H },
      keyImage: { ...valid, keyImage: G },
      identity: { ...valid, keyImage: IDENTITY },
      noImage: { ...valid, keyImage: NO_POINT },
      noMember: { ...valid, ring: [{ key: NO_POINT, commitment: G }, ...ring.slice(1)] },
      noCommitment: { ...valid, ring: [{ key: G, commitment: NO_POINT }, ...ring.slice(1)] },
      ringTooSmall: { ...valid, ring: ring.slice(1) },
      alone: { ...valid, ring: ring.slice(3, 4), proof: { ...proof, ss: proof.ss.slice(3, 4) } },
      challenge: { ...valid, proof: { ...proof, cc: flipBit(proof.cc, 1) } },
      challengeRaised: { ...valid, proof: { ...proof, cc: plusOrder(proof.cc) } },
      response: { ...valid, proof: withHead([flipBit(head![0]!, 0), head![1]!]) },
      responseRaised: { ...valid, proof: withHead([plusOrder(head![0]!), head![1]!]) },
      rowTooFew: { ...valid, proof: withHead([head![0]!]) },
    };
    for (const [name, forgery] of Object.entries(forgeries))
      assert.equal(verifyMlsagSimple(forgery), false, name);
  });

  test("the one proof of two inputs is accepted while amounts balance", () => {
    const [size, realIndex, fee] = [3, 1, 1000n];
    const inputs = [createRing(size, realIndex), createRing(size, realIndex)];
    const rings = inputs.map(({ ring }) => ring);
    const outputMask = randomScalar();
    const outputCommitments = [commit(outputMask, 2n * AMOUNT - fee)];
    const message = hashToScalar(H);
    const spent = pointAdd(outputCommitments[0]!, scalarMult(scFromUint64(fee), H));
    const columns = Array.from({ length: size }, (_, i) => {
      const members = rings.map((ring) => ring[i]!);
      const received = members.map(({ commitment }) => commitment).reduce(pointAdd);
      return [...members.map(({ key }) => key), pointSub(received, spent)];
    });
    const masks = inputs.map(({ mask }) => mask).reduce(scAdd);
    const secrets = [...inputs.map(({ secretKey }) => secretKey), scSub(masks, outputMask)];
    const { proof, keyImages } = signMlsag({ message, columns, secrets, linked: 2, realIndex });
    const valid = { message, rings, outputCommitments, fee, keyImages, proof };
    assert.equal(verifyMlsagFull(valid), true);
    assert.equal(verifyMlsagFull({ ...valid, fee: fee + 1n }), false);
    assert.equal(verifyMlsagFull({ ...valid, outputCommitments: [NO_POINT] }), false);
    assert.equal(verifyMlsagFull({ ...valid, keyImages: [...keyImages].reverse() }), false);
    assert.equal(verifyMlsagFull({ ...valid, keyImages: keyImages.slice(1) }), false);
    assert.equal(verifyMlsagFull({ ...valid, rings: [rings[0]!, rings[1]!.slice(1)] }), false);
    assert.equal(verifyMlsagFull({ ...valid, rings: [] }), false);
  });
});
