import assert from "node:assert/strict";
import { test } from "node:test";
import { type Block, blockId, networks } from "@anulo/protocol";
import { type ChainContext, chainContext, verifyHeader, verifyHeaders } from "../src/index.ts";
import { fakeView } from "./fake-view.ts";
import { assertRefused } from "./refusals.ts";
import { readRegtestChain } from "./regtest-chain.ts";

const HEIGHT = 1000;
const NOW = 2_000_000;
const RUN = 100;
const model = readRegtestChain()[10]!.block;

interface Header {
  readonly id: Uint8Array;
  readonly timestamp: number;
  readonly cumulativeDifficulty: bigint;
}

/** Blocks two minutes apart, with so much work up to each that difficulty goes up and down. */
const below: Header[] = Array.from({ length: HEIGHT }, (_, i) => ({
  id: new Uint8Array(32).fill(i % 251),
  timestamp: 1_000_000 + 120 * i + (i % 7) * 13,
  cumulativeDifficulty: BigInt(i) * 1_000_000n + BigInt((i * 7919) % 100_000),
}));

/** A chain of these headers, every window read from the whole list. */
function contextOf(headers: readonly Header[]): ChainContext {
  const top = headers.at(-1)!;
  const view = fakeView({
    height: headers.length,
    topId: top.id,
    cumulativeDifficulty: top.cumulativeDifficulty,
    recentTimestamps: (count) => headers.slice(-count).map(({ timestamp }) => timestamp),
    recentCumulativeDifficulties: (count) => headers.slice(-count).map((row) => row.cumulativeDifficulty),
    blockId: (at) => headers[at]!.id,
  });
  return chainContext(view, NOW);
}

/** Blocks that follow one another above `below`, and the work that each must have on the chain below it. */
function runOfBlocks() {
  const headers = [...below];
  const candidates: { block: Block; id: Uint8Array }[] = [];
  const work: unknown[] = [];
  for (let i = 0; i < RUN; i++) {
    const timestamp = 1_000_000 + 120 * HEIGHT + 60 * i;
    const header = { ...model.header, timestamp, previousId: headers.at(-1)!.id };
    const block = { ...model, header };
    const context = contextOf(headers);
    const { obligations, difficulty } = verifyHeader(block, context);
    const id = blockId(block);
    const cumulativeDifficulty = context.chain.cumulativeDifficulty + difficulty;
    headers.push({ id, timestamp, cumulativeDifficulty });
    candidates.push({ block, id });
    work.push(obligations);
  }
  return { candidates, work };
}

// Cost before work: nothing of a run of blocks may be read before what its headers claim was paid for.
test("the work of a run is what its blocks must have one after another, difficulty changing with each", () => {
  const { candidates, work } = runOfBlocks();
  const found = [...verifyHeaders(candidates, contextOf(below), networks.regtest)];
  assert.deepEqual(found, work);
  assert.ok(new Set(found.map(([obligation]) => obligation?.difficulty)).size > 10);
});

test("a run ends at the first header that breaks a rule", () => {
  const { candidates } = runOfBlocks();
  const { block, id } = candidates[2]!;
  const wrong = { id, block: { ...block, header: { ...block.header, majorVersion: 99 } } };
  const run = [candidates[0]!, candidates[1]!, wrong];
  const walk = verifyHeaders(run, contextOf(below), networks.regtest);
  assert.equal(walk.next().done, false);
  assert.equal(walk.next().done, false);
  assertRefused(() => walk.next(), "BLOCK_VERSION");
  const loose = verifyHeaders([candidates[0]!, candidates[2]!], contextOf(below), networks.regtest);
  loose.next();
  assertRefused(() => loose.next(), "UNKNOWN_PARENT");
});
