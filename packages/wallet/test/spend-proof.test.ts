import assert from "node:assert/strict";
import { test } from "node:test";
import { keyImageOf, publicKeyOf, scFromUint64 } from "@anulo/crypto";
import { checkSpendHeader, checkSpendProof, fitsRings, proveSpent } from "../src/proofs/spend-proof.ts";
import { WalletRefusal } from "../src/refusal.ts";

const secretOf = (number: number) => scFromUint64(BigInt(number));
const [first, second] = [11, 22].map((number) => ({ number, key: publicKeyOf(secretOf(number)) }));
const decoys = [101, 102, 103].map((number) => publicKeyOf(secretOf(number)));
const imageOf = ({ number, key }: { number: number; key: Uint8Array }) => keyImageOf(key, secretOf(number));

const claim = {
  txHash: new Uint8Array(32).fill(7),
  message: new TextEncoder().encode("paid"),
  rings: [
    { keyImage: imageOf(first!), keys: [decoys[0]!, first!.key, decoys[1]!] },
    { keyImage: imageOf(second!), keys: [second!.key, decoys[2]!] },
  ],
};

/** The owners of both inputs; their secrets are kept for a look after use. */
function ownersOf(given: Uint8Array[]) {
  return (keyImage: Uint8Array) => {
    const owner = [first!, second!].find((each) => Buffer.compare(imageOf(each), keyImage) === 0)!;
    const secretKey = new Uint8Array(secretOf(owner.number));
    given.push(secretKey);
    return { oneTimeKey: owner.key, secretKey };
  };
}

test("who spent proves it, for one transaction and message, and no secret is left", async () => {
  const secrets: Uint8Array[] = [];
  const text = await proveSpent(claim, ownersOf(secrets));
  assert.equal(secrets.length, 2);
  for (const secret of secrets) assert.ok(secret.every((byte) => byte === 0));
  checkSpendHeader(text);
  assert.equal(await checkSpendProof(claim, text), true);
  assert.equal(await checkSpendProof({ ...claim, message: new Uint8Array() }, text), false);
  assert.equal(await checkSpendProof({ ...claim, txHash: new Uint8Array(32) }, text), false);
  const [a, b] = claim.rings;
  assert.equal(
    await checkSpendProof({ ...claim, rings: [a!, { ...b!, keys: [...b!.keys].reverse() }] }, text),
    false,
  );
  assert.equal(
    await checkSpendProof({ ...claim, rings: [{ ...a!, keys: [...a!.keys].reverse() }, b!] }, text),
    false,
  );
});

test("a proof has a signature for each ring member, behind its header", async () => {
  const text = await proveSpent(claim, ownersOf([]));
  assert.equal(text.length, "SpendProofV1".length + 5 * 88);
  assert.equal(fitsRings(text, 5), true);
  for (const members of [4, 6]) assert.equal(fitsRings(text, members), false);
  assert.equal(await checkSpendProof(claim, text.slice(0, -1)), false);
  assert.equal(await checkSpendProof(claim, `${text}1`), false);
  await assert.rejects(checkSpendProof(claim, text.replace("V1", "V2")), WalletRefusal);
  await assert.rejects(checkSpendProof(claim, `${text.slice(0, -1)}0`), WalletRefusal);
  assert.throws(() => checkSpendHeader("InProofV1"), WalletRefusal);
});

test("a key that is not in its ring proves nothing, and its secret is wiped all the same", async () => {
  const secretKey = new Uint8Array(secretOf(11));
  await assert.rejects(
    proveSpent(claim, () => ({ oneTimeKey: publicKeyOf(secretOf(5)), secretKey })),
    /secret index not found/,
  );
  assert.ok(secretKey.every((byte) => byte === 0));
});
