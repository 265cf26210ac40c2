/** How much a restricted port gives at once: so much, and not one more; its owner gets more. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createClient, daemonMethods } from "@anulo/rpc";
import { createPublicNode, mine, now, pow } from "./chain-fixture.ts";

const node = createPublicNode();
const BLOCKS = 1010;
const DAYS = 86_400;

type Daemon = ReturnType<typeof connect>;
const connect = (port: 0 | 1) => createClient(daemonMethods, node.urls[port]!);
let owner: Daemon;
let stranger: Daemon;
let topHash: string;

before(async () => {
  await node.start();
  await mine(node.chain, BLOCKS);
  [owner, stranger] = [connect(0), connect(1)];
  topHash = (await owner.getInfo()).top_block_hash;
});
after(async () => {
  for (const daemon of [owner, stranger]) daemon.close();
  await node.stop();
  await pow.stop();
});

const some = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
const unknown = "ab".repeat(32);
const output = { amount: 0n, index: 0n };

/** "OK", or the reason of a refusal, as a status or as an error. */
async function outcome(call: Promise<{ readonly status?: string }>): Promise<string> {
  return await call.then(
    ({ status = "OK" }) => status,
    (error: Error) => error.message,
  );
}

type Ask = (daemon: Daemon, count: number) => Promise<{ readonly status?: string }>;

const limits: readonly (readonly [what: string, most: number, ask: Ask, refusal: RegExp])[] = [
  [
    "transactions",
    100,
    (daemon, count) => daemon.getTransactions({ txs_hashes: some(count, unknown) }),
    /Too many transactions requested in restricted mode/,
  ],
  [
    "key images",
    5000,
    (daemon, count) => daemon.isKeyImageSpent({ key_images: some(count, unknown) }),
    /Too many key images queried in restricted mode/,
  ],
  [
    "outputs",
    5000,
    (daemon, count) => daemon.getOuts({ outputs: some(count, output) }),
    /Too many outs requested/,
  ],
  [
    "outputs in binary",
    5000,
    (daemon, count) => daemon.getOutsBin({ outputs: some(count, output) }),
    /Too many outs requested/,
  ],
  [
    "blocks by height",
    1000,
    (daemon, count) => daemon.getBlocksByHeightBin({ heights: some(count, 1) }),
    /Too many blocks requested in restricted mode/,
  ],
  [
    "headers by hash",
    1000,
    (daemon, count) => daemon.getBlockHeaderByHash({ hash: "", hashes: some(count, topHash) }),
    /Too many block headers requested in restricted mode/,
  ],
  [
    // As in the original, the bound is one of differences of heights.
    "headers of a range",
    1001,
    (daemon, count) => daemon.getBlockHeadersRange({ start_height: 5, end_height: 4 + count }),
    /Too many block headers requested/,
  ],
];

for (const [what, most, ask, refusal] of limits) {
  test(`${most} ${what}, and not one more`, async () => {
    assert.equal(await outcome(ask(stranger, most)), "OK");
    assert.match(await outcome(ask(stranger, most + 1)), refusal);
    assert.equal(await outcome(ask(owner, most + 1)), "OK");
  });
}

describe("what a stranger is not counted", () => {
  test("outputs of all amounts, or of amounts in more than three days", async () => {
    const ask = (daemon: Daemon, amounts: bigint[], recent_cutoff = 0) =>
      outcome(daemon.getOutputHistogram({ amounts, recent_cutoff }));
    assert.match(await ask(stranger, []), /whole blockchain/);
    assert.equal(await ask(owner, []), "OK");
    assert.equal(await ask(stranger, [0n]), "OK");
    assert.equal(await ask(stranger, [0n], now() - 3 * DAYS), "OK");
    assert.match(await ask(stranger, [0n], now() - 3 * DAYS - 1), /too old/);
    assert.equal(await ask(owner, [0n], now() - 3 * DAYS - 1), "OK");
  });

  test("outputs of visible amounts by block", async () => {
    const ask = (daemon: Daemon, ...amounts: bigint[]) => outcome(daemon.getOutputDistribution({ amounts }));
    assert.equal(await ask(stranger, 0n), "OK");
    for (const amounts of [[], [5n], [0n, 0n]]) {
      assert.match(await ask(stranger, ...amounts), /only get output distribution for rct outputs/);
      assert.equal(await ask(owner, ...amounts), "OK");
    }
  });
});
