import assert from "node:assert/strict";
import { test } from "node:test";
import { type Block, blockId, networks, toHex } from "@anulo/protocol";
import {
  type ChainContext,
  chainContext,
  type HeaderCandidate,
  type JudgedHeader,
  type SeedSchedule,
  verifyHeader,
  verifyHeaderAbove,
} from "../src/index.ts";
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
function contextOf(headers: readonly Header[], seedSchedule?: SeedSchedule): ChainContext {
  const top = headers.at(-1)!;
  const view = fakeView({
    height: headers.length,
    topId: top.id,
    cumulativeDifficulty: top.cumulativeDifficulty,
    recentTimestamps: (count) => headers.slice(-count).map(({ timestamp }) => timestamp),
    recentCumulativeDifficulties: (count) => headers.slice(-count).map((row) => row.cumulativeDifficulty),
    blockId: (at) => headers[at]!.id,
    ...(seedSchedule !== undefined && { seedSchedule }),
  });
  return chainContext(view, NOW);
}

/** Blocks that follow one another above `below`, and the work that each must have on the chain below it. */
function runOfBlocks(seedSchedule?: SeedSchedule) {
  const headers = [...below];
  const candidates: { block: Block; id: Uint8Array }[] = [];
  const work: unknown[] = [];
  for (let i = 0; i < RUN; i++) {
    const timestamp = 1_000_000 + 120 * HEIGHT + 60 * i;
    const header = { ...model.header, timestamp, previousId: headers.at(-1)!.id };
    const block = { ...model, header };
    const context = contextOf(headers, seedSchedule);
    const { obligations, difficulty } = verifyHeader(block, context);
    const id = blockId(block);
    const cumulativeDifficulty = context.chain.cumulativeDifficulty + difficulty;
    headers.push({ id, timestamp, cumulativeDifficulty });
    candidates.push({ block, id });
    work.push(obligations);
  }
  return { candidates, work, headers };
}

function judgeAll(candidates: readonly HeaderCandidate[], context: ChainContext): JudgedHeader[] {
  const headers: JudgedHeader[] = [];
  for (const candidate of candidates) {
    headers.push(verifyHeaderAbove(candidate, context, { headers, network: networks.regtest }));
  }
  return headers;
}

// Cost before work: nothing of a run of blocks may be read before what its headers claim was paid for.
test("the work of a run is what its blocks must have one after another, difficulty changing with each", () => {
  const { candidates, work } = runOfBlocks();
  const found = judgeAll(candidates, contextOf(below)).map(({ verified }) => verified.obligations);
  assert.deepEqual(found, work);
  assert.ok(new Set(found.map(([obligation]) => obligation?.difficulty)).size > 10);
});

test("a run that is longer than a seed of RandomX lasts is hashed with ids of its own blocks", () => {
  const seedSchedule = { epochBlocks: 32, lagBlocks: 4 };
  const { candidates, work } = runOfBlocks(seedSchedule);
  const judged = judgeAll(candidates, contextOf(below, seedSchedule));
  const found = judged.map(({ verified }) => verified.obligations);
  assert.deepEqual(found, work);
  const own = candidates.map(({ id }) => toHex(id));
  const seeds = found.map(([obligation]) => obligation?.kind === "powHash" && toHex(obligation.seedId!));
  assert.equal(new Set(seeds.filter((seed) => seed !== false && own.includes(seed))).size, 3);
});

test("it is the same wherever the chain ends and the headers begin", () => {
  const { candidates, work, headers } = runOfBlocks();
  for (const judged of [1, 37, RUN - 1]) {
    const context = contextOf(headers.slice(0, HEIGHT + judged));
    const found = judgeAll(candidates.slice(judged), context).map(({ verified }) => verified.obligations);
    assert.deepEqual(found, work.slice(judged));
  }
});

test("a run ends at the first header that breaks a rule", () => {
  const { candidates } = runOfBlocks();
  const [first, second, { block, id }] = candidates as [HeaderCandidate, HeaderCandidate, HeaderCandidate];
  const wrong = { id, block: { ...block, header: { ...block.header, majorVersion: 99 } } };
  const context = contextOf(below);
  assert.equal(judgeAll([first, second], context).length, 2);
  assertRefused(() => judgeAll([first, second, wrong], context), "BLOCK_VERSION");
  assertRefused(() => judgeAll([first, { block, id }], context), "UNKNOWN_PARENT");
});
