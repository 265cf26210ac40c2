import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addNonces,
  addResponses,
  type ClsagFrame,
  clsagChallenge,
  clsagResponse,
  commit,
  commitmentImage,
  hashToScalar,
  keyImageOf,
  mulBy8,
  NONCES_PER_SIGNATURE,
  publicKeyOf,
  randomScalar,
  scAdd,
  scSub,
  verifyClsag,
} from "../src/index.ts";

/** A ring whose member `realIndex` is the signers', with all that they agree on before they sign. */
function createFrame(size: number, realIndex: number, shares: readonly Uint8Array[]) {
  const amount = 5_000_000_000n;
  const [mask, pseudoMask] = [randomScalar(), randomScalar()];
  const key = publicKeyOf(shares.reduce(scAdd));
  const ring = Array.from({ length: size }, () => ({
    key: publicKeyOf(randomScalar()),
    commitment: commit(randomScalar(), amount),
  })).with(realIndex, { key, commitment: commit(mask, amount) });
  const secretMask = scSub(mask, pseudoMask);
  const proof = {
    s: ring.map(() => randomScalar()),
    c1: new Uint8Array(32),
    D: commitmentImage(key, secretMask),
  };
  const frame: ClsagFrame = {
    message: hashToScalar(mask),
    ring,
    pseudoOut: commit(pseudoMask, amount),
    realIndex,
    proof,
    keyImage: keyImageOf(key, shares.reduce(scAdd)),
  };
  return { frame, secretMask };
}

function sign(frame: ClsagFrame, shares: readonly Uint8Array[], secretMask: Uint8Array) {
  const key = frame.ring[frame.realIndex]!.key;
  const nonces = shares.map(() => Array.from({ length: NONCES_PER_SIGNATURE }, () => randomScalar()));
  const points = nonces.map((own) => own.map((k) => ({ L: publicKeyOf(k), R: keyImageOf(key, k) })));
  const totals = points.reduce((sum, own) => sum.map((each, i) => addNonces(each, own[i]!)));
  const challenge = clsagChallenge(frame, totals);
  const parts = shares.map((secretKey, i) =>
    clsagResponse(challenge, { nonces: nonces[i]!, secretKey, secretMask: i === 0 ? secretMask : undefined }),
  );
  return { parts, finish: (s: Uint8Array) => finished(frame, challenge.c1, s) };
}

function finished(frame: ClsagFrame, c1: Uint8Array, s: Uint8Array): ClsagFrame {
  const { proof, realIndex } = frame;
  return { ...frame, proof: { ...proof, c1, s: proof.s.with(realIndex, s) } };
}

test("nonces are weighed by a hash of all that is signed, of the place in the ring and of the counts", () => {
  // Source: multisig_clsag_context.cpp, `CLSAG_round_ms_merge_factor`.
  const { frame } = createFrame(5, 3, [randomScalar()]);
  const points = [1, 2].map(() => ({ L: publicKeyOf(randomScalar()), R: publicKeyOf(randomScalar()) }));
  const domain = new Uint8Array(32);
  domain.set(new TextEncoder().encode("CLSAG_round_ms_merge_factor"));
  const { ring, message, pseudoOut, keyImage, proof } = frame;
  const number = (value: number) => Uint8Array.of(value, ...new Uint8Array(31));
  const hashed = [
    ...[domain, ...ring.map(({ key }) => key), ...ring.map(({ commitment }) => commitment)],
    ...[pseudoOut, message, ...points.map(({ L }) => L), ...points.map(({ R }) => R)],
    ...[keyImage, mulBy8(proof.D), ...proof.s.toSpliced(3, 1), number(3), number(2), number(5)],
  ];
  assert.deepEqual(clsagChallenge(frame, points).nonceFactor, hashToScalar(...hashed));
});

test("signers with a share each make one CLSAG, at every place of the ring", () => {
  for (const size of [2, 5]) {
    for (let realIndex = 0; realIndex < size; realIndex++) {
      const shares = [randomScalar(), randomScalar(), randomScalar()];
      const { frame, secretMask } = createFrame(size, realIndex, shares);
      const { parts, finish } = sign(frame, shares, secretMask);
      assert.ok(verifyClsag(finish(parts.reduce(addResponses))));
      assert.ok(!verifyClsag(finish(parts.slice(1).reduce(addResponses))));
    }
  }
});

test("a real member that is not in the ring is refused", () => {
  const { frame } = createFrame(3, 0, [randomScalar()]);
  assert.throws(() => clsagChallenge({ ...frame, realIndex: 3 }, []), RangeError);
});
