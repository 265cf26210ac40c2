import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import { NeededBlocks } from "../src/peers/needed-blocks.ts";

const id = (height: number) => new Uint8Array(32).fill(height);

test("needed blocks are found by place and by height, also after some were dropped", () => {
  const blocks = new NeededBlocks({ start: 10, ids: [10, 11, 12, 13].map(id), weights: [1, 2, 3, 4] });
  assert.equal(blocks.length, 4);
  assert.deepEqual(blocks.at(1), { id: id(11), key: toHex(id(11)), height: 11, weight: 2 });
  blocks.drop(2);
  assert.equal(blocks.length, 2);
  assert.equal(blocks.at(0)?.height, 12);
  for (const height of [10, 11, 12, 13]) assert.ok(blocks.hasAnnounced({ id: id(height), height }));
  assert.ok(!blocks.hasAnnounced({ id: id(12), height: 13 }));
  for (const beyond of [9, 14]) assert.ok(!blocks.hasAnnounced({ id: id(beyond), height: beyond }));
  assert.equal(blocks.at(2), undefined);
  assert.equal(blocks.at(-1), undefined);
  assert.equal(
    blocks.findIndex(({ height }) => height === 13),
    1,
  );
  assert.equal(
    blocks.findIndex(({ height }) => height < 12),
    -1,
  );
  blocks.drop(9);
  assert.equal(blocks.length, 0);
  assert.equal(blocks.at(0), undefined);
});

test("needed blocks without weights have none, and are kept as bytes of their own", () => {
  const told = [id(1)];
  const blocks = new NeededBlocks({ start: 1, ids: told, weights: [] });
  told[0]!.fill(9);
  assert.equal(blocks.at(0)?.weight, 0);
  assert.equal(blocks.at(0)?.key, toHex(id(1)));
  assert.equal(blocks.byteLength, 32);
  assert.equal(NeededBlocks.none().length, 0);
});
