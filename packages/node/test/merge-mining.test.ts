import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { genesisBlock, networks, parseExtra, toHex } from "@anulo/protocol";
import { RowMeter } from "@anulo/rpc";
import { encodeTreeDepth, slotNonce, withAuxiliaryTree } from "../src/mining/merge-mining.ts";
import { addAuxPow } from "../src/rpc/add-aux-pow.ts";

const idOf = (number: number) => new Uint8Array(createHash("sha256").update(`chain ${number}`).digest());
const idsOf = (count: number) => Array.from({ length: count }, (_, i) => idOf(i));

/** The slot of a chain, by the original's formula: sha256(id ‖ nonce ‖ "m") mod the number of chains. */
function slotOf(id: Uint8Array, nonce: number, chains: number): number {
  const tail = Buffer.alloc(4);
  tail.writeUInt32LE(nonce);
  const digest = createHash("sha256")
    .update(Buffer.concat([id, tail, Buffer.from("m")]))
    .digest();
  return digest.readUInt32LE(0) % chains;
}

test("the nonce is the first with which each chain has a slot of its own", async () => {
  for (const count of [1, 2, 3, 5, 7]) {
    const ids = idsOf(count);
    const nonce = (await slotNonce(ids))!;
    const isDistinct = (candidate: number) =>
      new Set(ids.map((id) => slotOf(id, candidate, count))).size === count;
    assert.equal(isDistinct(nonce), true);
    for (let below = 0; below < nonce; below++) assert.equal(isDistinct(below), false);
  }
  assert.equal(await slotNonce([]), 0);
});

test("chains that have one slot at any nonce, or are too many, have none", async () => {
  const onWork = () => assert.fail("nonces were tried");
  assert.equal(await slotNonce([idOf(1), idOf(2), idOf(1)], { onWork }), undefined);
  assert.equal(await slotNonce(Array.from({ length: 65 }, () => idOf(1))), undefined);
});

/** So many that no nonce gives each a slot of its own, which only trying all of them shows. */
const CHAINS_WITHOUT_NONCE = 64;

test("a search without end counts as its caller's work, and ends once the caller has left", async () => {
  const caller = new AbortController();
  let workMs = 0;
  let pauses = 0;
  const rows = new RowMeter(() => 0, {
    onWork: (milliseconds) => {
      workMs += milliseconds;
    },
    pause: async () => {
      if (++pauses === 3) caller.abort(new Error("left"));
    },
  });
  const aux_pow = idsOf(CHAINS_WITHOUT_NONCE).map((id) => ({ id: toHex(id), hash: toHex(id) }));
  const answer = addAuxPow({ aux_pow, blocktemplate_blob: "" }, { rows, signal: caller.signal });
  await assert.rejects(answer, /left/);
  assert.equal(pauses, 3);
  assert.ok(workMs > 0);
});

test("the depth holds the bits of the number of chains, that number, and the nonce", () => {
  // Bits less one in the lowest three, chains less one in the next bits, then the nonce.
  assert.equal(encodeTreeDepth(1, 0), 0b0_000);
  assert.equal(encodeTreeDepth(2, 0), 0b1_000);
  assert.equal(encodeTreeDepth(2, 5), 0b101_1_000);
  assert.equal(encodeTreeDepth(3, 5), 0b101_10_001);
  assert.equal(encodeTreeDepth(4, 5), 0b101_11_001);
  assert.equal(encodeTreeDepth(5, 1), 0b1_100_010);
  assert.equal(encodeTreeDepth(64, 65_535), 65_535 * 2 ** 9 + (63 << 3) + 5);
});

const block = genesisBlock(networks.mainnet);
const withExtra = (extra: Uint8Array) => {
  const { minerTransaction } = block;
  return {
    ...block,
    minerTransaction: { ...minerTransaction, prefix: { ...minerTransaction.prefix, extra } },
  };
};
const key = Uint8Array.of(1, ...new Uint8Array(32).fill(7));
const nonce = Uint8Array.of(2, 1, 9);

test("a tree takes the place of the one a block names, behind its other fields", () => {
  const [first, second] = [new Uint8Array(32).fill(3), new Uint8Array(32).fill(4)];
  const named = withAuxiliaryTree(withExtra(Uint8Array.from([...key, ...nonce])), { root: first, depth: 8 })!;
  const again = withAuxiliaryTree(named, { root: second, depth: 300 })!;
  const fields = parseExtra(again.minerTransaction.prefix.extra);
  assert.deepEqual(
    fields.map(({ type }) => type),
    ["publicKey", "nonce", "mergeMining"],
  );
  assert.deepEqual(fields.at(-1), { type: "mergeMining", depth: 300n, merkleRoot: second });
  assert.deepEqual(again.header, block.header);
});

test("an extra that is damaged is left alone", () => {
  const tree = { root: new Uint8Array(32), depth: 0 };
  assert.equal(withAuxiliaryTree(withExtra(Uint8Array.of(...key, 1, 2)), tree), undefined);
});
