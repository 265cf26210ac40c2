import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { extraNonce, fromHex, parseExtra, readBlock, toHex } from "@anulo/protocol";
import type { ChainParts } from "../src/chain/parts.ts";
import { createNode } from "../src/index.ts";
import { createTemplate } from "../src/mining/block-template.ts";
import { admit } from "../src/pool/admit.ts";
import { emptyChain, loadBlocks, minerKeys } from "./chain-fixture.ts";
import { goldenState } from "./recorded-chains.ts";

const node = createNode({ network: "regtest", fixedDifficulty: 1n });
before(() => node.start());
after(() => node.stop());

interface Answer {
  readonly result: {
    readonly blocktemplate_blob: string;
    readonly reserved_offset: number;
    readonly seed_hash: string;
    readonly next_seed_hash: string;
    readonly seed_height: number;
  };
  readonly error?: { readonly code: number; readonly message: string };
}

async function askTemplate(params: object, { urls } = node): Promise<Answer> {
  const wallet_address = goldenState().wallets.a.address;
  const body = { jsonrpc: "2.0", id: 0, method: "get_block_template", params: { wallet_address, ...params } };
  const response = await fetch(`${urls[0]}/json_rpc`, { method: "POST", body: JSON.stringify(body) });
  return (await response.json()) as Answer;
}

/** The nonce of a template's miner transaction, and the bytes of the template that it is said to have. */
function noncesOf({ result }: Answer, size: number) {
  const blob = fromHex(result.blocktemplate_blob);
  const { extra } = readBlock(blob).minerTransaction.prefix;
  const at = result.reserved_offset;
  return { written: extraNonce(parseExtra(extra)), atOffset: blob.subarray(at, at + size) };
}

test("a nonce is where the template says, with a length of one byte and of two", async () => {
  for (const size of [1, 2, 88, 89, 127, 128, 200, 254, 255]) {
    const nonce = Uint8Array.from({ length: size }, (_, i) => 255 - i);
    const { written, atOffset } = noncesOf(await askTemplate({ extra_nonce: toHex(nonce) }), size);
    assert.deepEqual([...atOffset], [...nonce], `${size} bytes`);
    assert.deepEqual(written, nonce);
  }
});

test("reserved bytes are zeros where the template says, and may be changed there", async () => {
  for (const size of [1, 127, 128, 254, 255]) {
    const answer = await askTemplate({ reserve_size: size });
    const { written, atOffset } = noncesOf(answer, size);
    assert.deepEqual(written, new Uint8Array(size));
    assert.deepEqual([...atOffset], [...new Uint8Array(size)], `${size} bytes`);
    const blob = fromHex(answer.result.blocktemplate_blob);
    const filled = blob.fill(0xa5, answer.result.reserved_offset, answer.result.reserved_offset + size);
    const { extra } = readBlock(filled).minerTransaction.prefix;
    assert.deepEqual(extraNonce(parseExtra(extra)), new Uint8Array(size).fill(0xa5));
  }
});

test("nothing reserved has no offset, and more than 255 bytes are refused", async () => {
  const { result } = await askTemplate({ reserve_size: 0 });
  assert.equal(result.reserved_offset, 0);
  const { extra } = readBlock(fromHex(result.blocktemplate_blob)).minerTransaction.prefix;
  assert.equal(extraNonce(parseExtra(extra)), undefined);
  const tooMany = await askTemplate({ reserve_size: 256 });
  assert.deepEqual(tooMany.error, { code: -3, message: "Too big reserved size, maximum 255" });
  const tooLong = await askTemplate({ extra_nonce: "00".repeat(256) });
  assert.deepEqual(tooLong.error, { code: -3, message: "Too big extra_nonce size, maximum 510 hex chars" });
});

test("a template that is not hashed with RandomX has no seed", async (t) => {
  const early = createNode({ network: "mainnet", fixedDifficulty: 1n, offline: true });
  await early.start();
  t.after(() => early.stop());
  const seedOf = ({ result }: Answer) => [result.seed_hash, result.next_seed_hash, result.seed_height];
  assert.deepEqual(seedOf(await askTemplate({}, early)), ["", "", 0]);
  const genesis = toHex(node.chain.store.read.blockInfo(0)!.hash);
  assert.deepEqual(seedOf(await askTemplate({})), [genesis, "", 0]);
});

/** The chain's parts, as if all of its blocks had this weight. */
function withWeights(parts: ChainParts, weight: number): ChainParts {
  const main = parts.state.view();
  const recentWeights = (count: number) => main.recentWeights(count).map(() => weight);
  const view = () => ({ ...main, recentWeights, longTermWeightMedian: weight });
  return { ...parts, state: { ...parts.state, view } };
}

test("a template on the top holds what fits without penalty under the chain's own median", async (t) => {
  const chain = await emptyChain();
  const { parts } = chain;
  const { blocks, pool } = goldenState();
  await loadBlocks(parts, blocks);
  for (const blob of pool.slice(0, 2)) await admit(parts, { blob, doNotRelay: false });
  // As if they were heavier: together above the smallest median, 300,000 bytes, and their fees less than the penalty.
  const entries = parts.pool
    .byFeeRate()
    .map((entry) => ({ ...entry, row: { ...entry.row, weight: 200_000 } }));
  t.mock.method(parts.pool, "byFeeRate", () => entries);
  const countAt = (median: number) =>
    createTemplate(withWeights(parts, median), { keys: minerKeys, extraNonce: new Uint8Array(1) }).block
      .transactionHashes.length;
  assert.deepEqual([300_000, 400_000].map(countAt), [1, 2]);
  await chain.close();
});
