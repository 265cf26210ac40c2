import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyChain } from "./chain-fixture.ts";

test("a pool takes 648 MB unless told otherwise, and remembers the last 100,000 that expired", async () => {
  const chain = await emptyChain();
  const { pool } = chain.parts;
  // Source: cryptonote_config.h `DEFAULT_TXPOOL_MAX_WEIGHT`.
  assert.equal(pool.maxWeight, 648_000_000);
  for (let key = 0; key < 100_000; key++) pool.markExpired(`${key}`);
  assert.deepEqual([pool.hasExpired("0"), pool.hasExpired("99999")], [true, true]);
  pool.markExpired("100000");
  assert.deepEqual(
    [pool.hasExpired("0"), pool.hasExpired("1"), pool.hasExpired("100000")],
    [false, true, true],
  );
  await chain.close();
});
