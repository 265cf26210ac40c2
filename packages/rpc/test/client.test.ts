import assert from "node:assert/strict";
import { createServer } from "node:net";
import { describe, it, type TestContext } from "node:test";
import {
  type BacklogEntry,
  BadAnswer,
  ConnectionFailed,
  createClient,
  createRpcServer,
  daemon,
  daemonMethods,
  implementFor,
  RemoteError,
  RpcError,
  type RpcServerOptions,
} from "../src/index.ts";

const implement = implementFor<object>();
const { blocks, transactions, outputs, pool, network } = daemon;
const MAX = 2n ** 64n - 1n;

const calls = [
  ...implement(
    {
      getBlockCount: blocks.getBlockCount,
      onGetBlockHash: blocks.onGetBlockHash,
      getHashesBin: blocks.getHashesBin,
    },
    {
      getBlockCount: () => ({ count: 5 }),
      onGetBlockHash: ([height]) => {
        if (height === MAX) throw new RpcError(-2, "too high");
        return "ab".repeat(32);
      },
      getHashesBin: ({ block_ids, start_height }) => ({
        current_height: 9,
        m_block_ids: block_ids,
        start_height,
      }),
    },
  ),
  ...implement(
    { getOuts: outputs.getOuts, getOutputDistribution: outputs.getOutputDistribution },
    {
      getOuts: ({ outputs: [first] }) => ({
        outs: [{ height: 1, key: String(first?.amount), mask: "", txid: "", unlocked: true }],
      }),
      getOutputDistribution: ({ amounts, compress }) => ({
        distributions: amounts.map((amount) => ({
          amount,
          base: 3,
          binary: true,
          compress,
          distribution: [0, 1, 127, 128, 300, 2 ** 40],
          start_height: 7,
        })),
      }),
    },
  ),
  ...implement(
    {
      getTxpoolBacklog: pool.getTxpoolBacklog,
      getTransactionPoolHashesBin: pool.getTransactionPoolHashesBin,
    },
    {
      getTxpoolBacklog: () => ({ backlog: [{ blob_size: 1500, fee: MAX, time_in_pool: 7 }] }),
      getTransactionPoolHashesBin: () => ({ tx_hashes: [new Uint8Array(32).fill(200)] }),
    },
  ),
  ...implement({ isKeyImageSpent: transactions.isKeyImageSpent }, {}, ["isKeyImageSpent"]),
  ...implement(
    { getPeerList: network.getPeerList },
    {
      getPeerList: () => ({
        gray_list: [],
        white_list: [{ host: "10.1.2.3", id: MAX, ip: 0x0302010a, last_seen: 5, port: 18080 }],
      }),
    },
  ),
];

async function start(t: TestContext, options: Partial<RpcServerOptions<object>> = {}): Promise<string> {
  const server = await createRpcServer({
    calls,
    listen: [{ host: "127.0.0.1", port: 0 }],
    context: () => ({}),
    ...options,
  });
  t.after(() => server.stop());
  return server.urls[0]!;
}

function connectTo(t: TestContext, url: string, options = {}) {
  const client = createClient(daemonMethods, url, options);
  t.after(() => client.close());
  return client;
}

for (const dialect of ["contract", "upstream"] as const) {
  describe(`client of a service in the ${dialect} dialect`, () => {
    it("calls methods, plain paths and binary paths", async (t) => {
      const client = connectTo(t, await start(t, { dialect }));
      assert.equal((await client.getBlockCount()).count, 5);
      assert.equal(await client.onGetBlockHash([3n]), "ab".repeat(32));
      const { outs } = await client.getOuts({ outputs: [{ amount: MAX, index: 0n }] });
      assert.equal(outs[0]?.key, String(MAX));
      const ids = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
      const hashes = await client.getHashesBin({ block_ids: ids, start_height: 4 });
      assert.deepEqual(hashes.m_block_ids, ids);
      assert.equal(hashes.start_height, 4);
    });

    it("sees the same values behind every switched form", async (t) => {
      const client = connectTo(t, await start(t, { dialect }));
      const expected: BacklogEntry = { blob_size: 1500, fee: MAX, time_in_pool: 7 };
      assert.deepEqual([...(await client.getTxpoolBacklog()).backlog], [expected]);
      const { white_list, gray_list } = await client.getPeerList();
      assert.deepEqual([white_list[0]?.host, white_list[0]?.id], ["10.1.2.3", MAX]);
      assert.deepEqual(gray_list, []);
      const { tx_hashes } = await client.getTransactionPoolHashesBin();
      assert.deepEqual(tx_hashes, [new Uint8Array(32).fill(200)]);
    });

    it("reads distributions packed and compressed", async (t) => {
      const client = connectTo(t, await start(t, { dialect }));
      for (const compress of [false, true]) {
        const { distributions } = await client.getOutputDistribution({ amounts: [0n], compress });
        assert.deepEqual(distributions[0]?.distribution, [0, 1, 127, 128, 300, 2 ** 40]);
      }
    });
  });
}

describe("client", () => {
  it("rejects with the error object of the service", async (t) => {
    const client = connectTo(t, await start(t));
    await assert.rejects(client.onGetBlockHash([MAX]), (error) => {
      assert.ok(error instanceof RemoteError);
      assert.deepEqual([error.code, error.message, error.call], [-2, "too high", "on_get_block_hash"]);
      return true;
    });
  });

  it("logs in with either algorithm and stays logged in", async (t) => {
    const login = { user: 'us"er', password: "s:e cret" };
    const client = connectTo(t, await start(t, { login }), { login });
    for (let i = 0; i < 3; i++) assert.equal((await client.getBlockCount()).count, 5);
    const wrong = connectTo(t, await start(t, { login }), { login: { user: "x", password: "y" } });
    await assert.rejects(wrong.getBlockCount(), /HTTP 401/);
  });

  it("says that a service cannot be reached", async (t) => {
    const client = connectTo(t, "http://127.0.0.1:1");
    await assert.rejects(client.getBlockCount(), ConnectionFailed);
  });

  it("gives up on a service that never answers", async (t) => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => server.close());
    const { port } = server.address() as { port: number };
    const client = connectTo(t, `http://127.0.0.1:${port}`, { timeoutMs: 50 });
    await assert.rejects(client.getBlockCount(), { name: "ConnectionFailed", message: /no answer in 50 ms/ });
  });

  it("refuses an answer above its limit", async (t) => {
    const isBounded = ({ name }: { readonly name: string }) => name === "get_block_count";
    const maxAnswerBytes = (call: { readonly name: string }) => (isBounded(call) ? 20 : 20_000);
    const client = connectTo(t, await start(t), { maxAnswerBytes });
    await assert.rejects(client.getBlockCount(), ConnectionFailed);
    await client.onGetBlockHash([1n]);
  });

  it("refuses an answer that is not what was declared", async (t) => {
    const wrong = implement(
      { isKeyImageSpent: transactions.isKeyImageSpent },
      { isKeyImageSpent: () => ({ spent_status: [0], status: "OK" }) },
    );
    const url = await start(t, {
      calls: wrong.map((one) => ({
        ...one,
        call: { ...one.call, result: pool.getTransactionPoolStats.result },
        handler: () => ({ pool_stats: pool.getTransactionPoolStats.result.absent()!.pool_stats }),
      })),
    });
    const client = connectTo(t, url);
    const answer = await client.isKeyImageSpent({ key_images: [] });
    assert.deepEqual(answer.spent_status, []);
    await assert.rejects(client.getOuts({ outputs: [] }), BadAnswer);
  });
});
