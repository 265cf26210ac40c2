/** What else a node does while it reads blocks from a file. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SLICE_MS } from "@anulo/limits";
import { runsFrom } from "../src/exchange/runs.ts";
import { emptyChain } from "./chain-fixture.ts";

/** Longer than a slice of work. */
const STEP_MS = 2 * SLICE_MS;

test("a file in which no block is found for long lets others have their turns", async () => {
  const { parts, close } = await emptyChain();
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  const source = {
    first: 0,
    pruningSeed: 0,
    *blocks() {
      for (let i = 0; i < 10; i++) {
        const from = performance.now();
        while (performance.now() - from < STEP_MS);
        yield undefined;
      }
    },
    close() {},
  };
  setImmediate(count);
  const start = { height: 1, transactionsBefore: 1 };
  for await (const _ of runsFrom({ parts, source, path: "empty.raw" }, start))
    assert.fail("there is no block");
  isOver = true;
  assert.ok(turns >= 9, `${turns} turns`);
  await close();
});
