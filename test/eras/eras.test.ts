import assert from "node:assert/strict";
import { test } from "node:test";
import { acceptBlock, createNode, type Node, readBlockWithTransactions } from "@anulo/node";
import { blockId, fromHex, readBlock, readTransactionPrefix, toHex } from "@anulo/protocol";
import { call } from "@anulo/testkit";
import { type ErasBlock, type ErasFixture, loadEras } from "./fixture.ts";
import { createLedger } from "./forge/ledger.ts";
import { forkHeights, networkWithForks } from "./plan.ts";
import { type Attempt, walkEras } from "./walk.ts";

async function startNode(eras: ErasFixture): Promise<Node> {
  const last = readBlock(fromHex(eras.blocks.at(-1)!.blob)).header.timestamp;
  const node = createNode({
    network: networkWithForks(forkHeights),
    fixedDifficulty: 1n,
    dialect: "upstream",
    now: () => last + 1000,
  });
  await node.start();
  return node;
}

/** Blocks come with their transactions, as peers send them: the pool takes no locked ones (#9311). */
const giveTo =
  ({ chain }: Node) =>
  async ({ blob, transactions }: ErasBlock): Promise<void> => {
    const blobs = transactions.map((hex) => fromHex(hex));
    await acceptBlock(chain, await readBlockWithTransactions(fromHex(blob), blobs));
  };

/** Flags of today's release where 0.18.0.0 showed none. */
const flagged = ["Failed invalid_input", "Failed invalid_output"];

/** Strange blocks whose time is more than two hours ahead. */
const farAhead = ["timestamp in 2100", "timestamp after the end of time"];

/** What today's pool says of a transaction for its form alone, once it pays its fee (#8784, #9311). */
function formRefusal(blob: string): string | undefined {
  const { extra, unlockTime } = readTransactionPrefix(fromHex(blob));
  if (extra.length > 1060) return "Failed tx_extra_too_big";
  return unlockTime === 0n ? undefined : "Failed nonzero_unlock_time";
}

/** Whether today's release answers so to what 0.18.0.0 answered as was recorded. */
function isDueToday(verdict: string, recorded: string, { name, blob }: Attempt): boolean {
  // It reads a generation input beside others no more.
  if (name === "two miner inputs") return verdict === recorded.replace("code -7", "code -6");
  // It reads a block no more that ends before the number of its transactions.
  if (name === "last byte missing") return verdict === "code -6, not on top";
  // It takes none far ahead of the clock any more, beside the chain either.
  if (farAhead.includes(name)) return verdict === "code -7, not on top";
  if (recorded.includes("on top")) return verdict === recorded;
  if (verdict === recorded) return recorded !== "OK" || formRefusal(blob) === undefined;
  if (verdict === "Failed fee_too_low") return recorded === "Failed";
  const refusal = formRefusal(blob);
  if (refusal !== undefined) return verdict === refusal;
  return recorded === "Failed" && flagged.includes(verdict);
}

test("a chain through all sixteen hard forks", async (t) => {
  const eras = loadEras();
  const node = await startNode(eras);
  try {
    const walk = await walkEras(node.urls[0]!, eras, { give: giveTo(node), isDue: isDueToday });
    const { counts } = walk;
    await t.test("gives every block the weights, rewards and ids it has at the real node", () => {
      assert.deepEqual(walk.blocks, []);
    });
    await t.test("gets the real node's answers about forks and fees", () => {
      assert.deepEqual(walk.answers, []);
    });
    await t.test("takes and refuses transactions of other eras as the real node does", () => {
      assert.deepEqual(walk.transactions, []);
    });
    await t.test("takes and refuses blocks on both sides of each fork as the real node does", () => {
      assert.deepEqual(walk.strangeBlocks, []);
    });
    t.diagnostic(JSON.stringify(counts));
  } finally {
    await node.stop();
  }
});

/** Adds so many empty blocks on a block (its id in hexadecimal); the id of the last. */
async function addBranch(url: string, parent: string, length: number): Promise<string> {
  const { address } = createLedger("eras");
  let top = parent;
  for (let i = 0; i < length; i++) {
    const params = { wallet_address: address, reserve_size: 0, prev_block: top };
    const { blocktemplate_blob } = await call(url, "get_block_template", params);
    await call(url, "submit_block", [blocktemplate_blob!]);
    top = toHex(blockId(readBlock(fromHex(String(blocktemplate_blob)))));
  }
  return top;
}

test("a branch across hard forks 12 to 14 becomes the main chain, and is left again", async () => {
  const eras = loadEras();
  const node = await startNode(eras);
  const url = node.urls[0]!;
  const isTried = () => false;
  const give = giveTo(node);
  const [leavesAt, top] = [forkHeights[10]! - 10, forkHeights[12]! + 8];
  try {
    await walkEras(url, eras, { give, isTried, to: top });
    const parent = String(eras.blocks[leavesAt - 1]!.header.hash);
    const branchTop = await addBranch(url, parent, top - leavesAt + 1);
    const { height, top_block_hash } = await call(url, "get_info", {});
    assert.deepEqual([Number(height), top_block_hash], [top + 2, branchTop]);
    assert.equal(Number((await call(url, "hard_fork_info", {})).version), 14);
    // These hold no transactions; of those below them hard fork 14 lets none wait in the pool that are of type 4.
    for (const { blob, transactions } of eras.blocks.slice(top, top + 3)) {
      assert.deepEqual(transactions, []);
      await call(url, "submit_block", [blob]);
    }
    const walk = await walkEras(url, eras, { give, isTried, from: top + 4 });
    assert.deepEqual([walk.blocks, walk.answers], [[], []]);
    assert.equal(walk.counts.blocks, eras.blocks.length - top - 3);
  } finally {
    await node.stop();
  }
});
