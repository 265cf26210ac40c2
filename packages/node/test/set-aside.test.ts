import assert from "node:assert/strict";
import { test } from "node:test";
import { readTransaction, toHex, transactionHash } from "@anulo/protocol";
import { createSetAside } from "../src/pool/set-aside.ts";
import { goldenState } from "./recorded-chains.ts";

const candidates = goldenState()
  .blocks.flatMap(({ transactions }) => transactions)
  .slice(0, 4)
  .map((blob) => {
    const transaction = readTransaction(blob);
    return { transaction, id: transactionHash(transaction), weight: 100 };
  });
const [first, second, third, fourth] = candidates.map(({ id }) => toHex(id));

test("what is set aside is found until newer ones take its room", () => {
  const setAside = createSetAside(300);
  for (const candidate of candidates.slice(0, 3)) setAside.add(candidate);
  assert.deepEqual(setAside.get(first!), candidates[0]);
  // Again: it is the newest now, and takes no more room than before.
  setAside.add(candidates[0]!);
  assert.deepEqual(setAside.get(second!), candidates[1]);
  setAside.add(candidates[3]!);
  assert.deepEqual(
    [first, second, third, fourth].map((key) => setAside.get(key!) !== undefined),
    [true, false, true, true],
  );
});

test("what is larger than all the room is not kept", () => {
  const setAside = createSetAside(99);
  setAside.add(candidates[0]!);
  assert.equal(setAside.get(first!), undefined);
});
