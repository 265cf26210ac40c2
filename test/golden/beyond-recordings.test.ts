import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, readBlock, toHex, writeBlock } from "@anulo/protocol";
import {
  CallFailed,
  call,
  loadGoldenState,
  post,
  type RunningDaemon,
  type RunningWallet,
  startDaemon,
  startWallet,
} from "@anulo/testkit";

/** What the decisions on the interface documents demand and no recorded step asks for. */
const dialects = ["contract", "upstream"] as const;
type Dialect = (typeof dialects)[number];

async function withNode(dialect: Dialect, run: (node: RunningDaemon) => Promise<void>) {
  const node = await startDaemon({ kind: "ours", dialect });
  try {
    await run(node);
  } finally {
    await node.stop();
  }
}

async function withWallet(dialect: Dialect, run: (wallet: RunningWallet) => Promise<void>) {
  const wallet = await startWallet({ kind: "ours", dialect });
  try {
    await run(wallet);
  } finally {
    await wallet.stop();
  }
}

/** A recorded block on top of a block that nobody has. */
function blockWithoutParent(): string {
  const { blocks } = loadGoldenState();
  const block = readBlock(fromHex(blocks[0]!.blob));
  return toHex(writeBlock({ ...block, header: { ...block.header, previousId: new Uint8Array(32).fill(7) } }));
}

for (const dialect of dialects) {
  test(`submit_block refuses a block without known parent, ${dialect}`, async () => {
    await withNode(dialect, async ({ url }) => {
      await assert.rejects(call(url, "submit_block", [blockWithoutParent()]), (error: unknown) => {
        assert.ok(error instanceof CallFailed);
        assert.equal(error.code, -7);
        return true;
      });
    });
  });

  test(`get_info answers to all its names, ${dialect}`, async () => {
    await withNode(dialect, async ({ url }) => {
      const { height, top_block_hash } = await call(url, "get_info");
      for (const name of ["getinfo", "/get_info", "/getinfo"]) {
        const info = await call(url, name);
        assert.deepEqual([info.height, info.top_block_hash], [height, top_block_hash]);
      }
    });
  });

  test(`stop_wallet ends a service without open wallet, ${dialect}`, async () => {
    await withWallet(dialect, async ({ url, ended }) => {
      assert.deepEqual(await call(url, "stop_wallet"), {});
      assert.equal(await ended, 0);
    });
  });

  test(`close_wallet without params saves, ${dialect}`, async () => {
    await withWallet(dialect, async ({ url }) => {
      const file = { filename: "kept", password: "p" };
      await call(url, "create_wallet", { ...file, language: "English" });
      await call(url, "set_attribute", { key: "k", value: "v" });
      await post(`${url}/json_rpc`, { jsonrpc: "2.0", id: "0", method: "close_wallet" });
      await call(url, "open_wallet", file);
      assert.deepEqual(await call(url, "get_attribute", { key: "k" }), { value: "v" });
    });
  });
}
