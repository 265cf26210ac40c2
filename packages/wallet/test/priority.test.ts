import assert from "node:assert/strict";
import { test } from "node:test";
import type { Daemon } from "../src/daemon.ts";
import { adjustPriority, type PriorityParts } from "../src/transfer/priority.ts";
import { startTestService } from "./service.ts";

const LOWEST_FEE = 20_000n;
const FULL_BLOCK = 300_000;

type Scene = {
  /** Weight and fee per byte of each transaction of the pool. */
  readonly pool?: readonly (readonly [weight: number, feePerByte: bigint])[];
  readonly blockWeight?: number;
  /** Weights of the newest blocks; if left out, there are ten of the same. */
  readonly blockWeights?: readonly number[];
  /** Greatest weight of a block: twice the usual one. */
  readonly limit?: number;
  readonly height?: number;
  readonly choosesPriority?: boolean;
  readonly status?: string;
};

function partsOf(scene: Scene): PriorityParts {
  const { pool = [], blockWeight = 300, height = 500, choosesPriority = true, status = "OK" } = scene;
  const { blockWeights = Array<number>(10).fill(blockWeight), limit = 2 * FULL_BLOCK } = scene;
  const client = {
    getFeeEstimate: async (asked: { grace_blocks: number }) => {
      assert.deepEqual(asked, { grace_blocks: 10 });
      return { status, fees: [LOWEST_FEE, 4n * LOWEST_FEE], quantization_mask: 10_000 };
    },
    getTxpoolBacklog: async () => ({
      status,
      backlog: pool.map(([weight, rate]) => ({ blob_size: weight, fee: rate * BigInt(weight) })),
    }),
    getInfo: async () => ({ status, block_weight_limit: limit }),
    getBlockHeadersRange: async (range: { start_height: number; end_height: number }) => {
      assert.deepEqual(range, { start_height: height - 10, end_height: height - 1 });
      return { status, headers: blockWeights.map((weight) => ({ block_weight: weight })) };
    },
  };
  return {
    daemon: { client } as unknown as Daemon,
    state: { height, lastBlockReward: 0n },
    preferences: { choosesPriority },
  };
}

const chosen = (scene: Scene, priority = 0) => adjustPriority(partsOf(scene), priority);

test("a payment that names no priority pays the next one while the pool fills a block", async () => {
  assert.equal(await chosen({}), 1);
  const just = [FULL_BLOCK - 1, LOWEST_FEE] as const;
  assert.equal(await chosen({ pool: [just] }), 1);
  assert.equal(await chosen({ pool: [just, [1, LOWEST_FEE]] }), 2);
  assert.equal(await chosen({ pool: [just, [1, LOWEST_FEE - 1n]] }), 1, "who pays less waits behind us");
  assert.equal(await chosen({ pool: [[0, LOWEST_FEE], just] }), 1);
});

test("a payment that names no priority pays the next one while blocks are full", async () => {
  assert.equal(await chosen({ blockWeight: FULL_BLOCK * 0.8 }), 1);
  assert.equal(await chosen({ blockWeight: FULL_BLOCK * 0.81 }), 2);
  const justNot = [...Array<number>(9).fill(FULL_BLOCK * 0.81), FULL_BLOCK * 0.81 - 1];
  assert.equal(await chosen({ blockWeights: justNot }), 1);
  assert.equal(await chosen({ blockWeight: 1, limit: 2 }), 2, "on a chain of the smallest blocks, too");
});

test("a priority is left as it is where it is named, settled on, or cannot be chosen", async () => {
  const busy = { blockWeight: FULL_BLOCK };
  for (const named of [1, 2, 3, 4, 9]) assert.equal(await chosen(busy, named), named);
  assert.equal(await chosen({ ...busy, choosesPriority: false }), 0);
  assert.equal(await chosen({ ...busy, height: 9 }), 0);
  assert.equal(await chosen({ ...busy, height: 10 }), 2);
  assert.equal(await chosen({ ...busy, limit: 1 }), 0);
  for (const count of [0, 9, 11])
    assert.equal(await chosen({ blockWeights: Array<number>(count).fill(FULL_BLOCK) }), 0);
  assert.equal(await chosen({ ...busy, status: "BUSY" }), 0);
});

test("a fault of the program is no reason to choose the lowest fee", async () => {
  const parts = partsOf({});
  Object.assign(parts.daemon.client, { getInfo: () => Promise.reject(new TypeError("a fault")) });
  await assert.rejects(adjustPriority(parts, 0), TypeError);
});

test("a wallet whose node is away names the lowest priority", async (t) => {
  const { call } = await startTestService({ node: "http://127.0.0.1:1" }, t);
  await call.createWallet({ filename: "w", language: "English" });
  assert.deepEqual(await call.getDefaultFeePriority(), { priority: 1 });
});
