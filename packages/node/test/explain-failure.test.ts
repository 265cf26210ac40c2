/** Which block of a source is named for a failed import, and which blocks can still be imported. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { RuleViolation } from "@anulo/consensus";
import { BadBytes } from "@anulo/protocol";
import { BadSource } from "@anulo/storage";
import { BadBlock, ChainChanged, type FetchedBlock } from "../src/chain/import-blocks.ts";
import { readIncomingBlock } from "../src/chain/incoming-block.ts";
import { explain } from "../src/exchange/explain-failure.ts";
import { recordedChain } from "./recorded-chains.ts";

const paid = recordedChain()
  .filter(({ transactions }) => transactions.length > 0)
  .slice(0, 3)
  .map(({ blob, transactions }): FetchedBlock => {
    return { incoming: readIncomingBlock(blob), txs: transactions, size: blob.length };
  });

const runOf = (blocks: readonly FetchedBlock[]) => ({
  blocks,
  end: 10,
  done: 1,
  places: new Map(blocks.map(({ incoming }, i) => [incoming.key, `block ${i} of the file`])),
});

/** Blocks of which one, by its index, has a transaction that cannot be read. */
const spoilt = (at: number) =>
  paid.map((block, i) =>
    i === at ? { ...block, txs: [Uint8Array.of(2, 0), ...block.txs.slice(1)] } : block,
  );

test("a block that breaks a rule is named with its place, and nothing remains of its run", async () => {
  const error = new BadBlock(paid[1]!.incoming.key, new RuleViolation({ code: "UNKNOWN_PARENT" }));
  const explanation = await explain("some.raw", { run: runOf(paid), error });
  assert.ok(explanation.error instanceof BadSource);
  assert.match(explanation.error.message, /^some\.raw: block 1 of the file: it breaks a rule: /);
  assert.equal(explanation.error.cause, error);
  assert.deepEqual(explanation.remaining, []);
  const elsewhere = await explain("some.raw", { run: { ...runOf(paid), places: new Map() }, error });
  assert.match((elsewhere.error as Error).message, /^some\.raw: a block: it breaks a rule: /);
});

test("of bytes that cannot be read the first such block is named, and those below it remain", async () => {
  for (const at of [0, 1, 2]) {
    const run = runOf(spoilt(at));
    const { error, remaining } = await explain("some.raw", { run, error: new BadBytes("of some block") });
    assert.ok(error instanceof BadSource);
    assert.ok(error.message.startsWith(`some.raw: block ${at} of the file: `));
    assert.ok(error.cause instanceof BadBytes);
    assert.deepEqual(remaining, run.blocks.slice(0, at));
  }
});

test("an error that no block causes stays what it is", async () => {
  for (const [blocks, error] of [
    [paid, new BadBytes("of another run")],
    [spoilt(1), new ChainChanged()],
    [spoilt(1), new Error("the disk is full")],
  ] as const) {
    const explanation = await explain("some.raw", { run: runOf(blocks), error });
    assert.equal(explanation.error, error);
    assert.deepEqual(explanation.remaining, []);
  }
});
