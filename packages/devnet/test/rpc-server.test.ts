import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { RpcServer } from "@anulo/rpc";
import { CallFailed, call, type Devnet, devnetErrors, startDevnet, startDevnetRpc } from "../src/index.ts";

const COIN = 10n ** 12n;
let net: Devnet<"payer" | "shop">;
let server: RpcServer;
const ask = (method: string, params = {}) => call(server.urls[0]!, method, params);
const refusedWith = (code: number) => (error: unknown) => error instanceof CallFailed && error.code === code;

before(async () => {
  net = await startDevnet({ wallets: { payer: [COIN], shop: [] } });
  server = await startDevnetRpc(net);
});
after(async () => {
  await server.stop();
  await net.stop();
});

test("a test in any language funds, pays, mines, reorganises and reverts", async () => {
  const { snapshot_id } = await ask("devnet_snapshot");
  const info = await ask("devnet_info");
  assert.equal(info.node_url, net.nodeUrl);
  const { wallets } = await ask("devnet_wallets");
  const urls = (wallets as { name: string; url: string; address: string }[]).map(({ url }) => url);
  assert.deepEqual(urls, [net.wallets.payer.url, net.wallets.shop.url]);
  await ask("devnet_fund", { to: "shop", amounts: [2n * COIN, 3n] });
  assert.equal((await net.wallets.shop.balance()).unlocked, 2n * COIN + 3n);
  const { height } = await ask("devnet_mine", { blocks: 3 });
  assert.deepEqual(await ask("devnet_reorg", { depth: 2 }), { height: Number(height) + 1 });
  const { time } = await ask("devnet_advance_time", { seconds: 60 });
  assert.equal(time, net.time());
  await ask("devnet_set_time", { time: Number(time) + 5 });
  assert.equal(net.time(), Number(time) + 5);
  assert.deepEqual(await ask("devnet_revert", { snapshot_id: snapshot_id ?? 0 }), { height: info.height });
  assert.equal((await net.wallets.shop.balance()).unlocked, 0n);
  await ask("devnet_drop_snapshot", { snapshot_id: snapshot_id ?? 0 });
});

test("faults begin, are listed with what they have befallen, and end", async () => {
  const { fault_id } = await ask("devnet_fault", { at: "wallet", kind: "refusing", wallet: "shop" });
  await assert.rejects(net.wallets.shop.balance());
  const { faults } = await ask("devnet_list_faults");
  assert.deepEqual(faults, [{ id: fault_id, at: "wallet", kind: "refusing", wallet: "shop", count: 1 }]);
  await ask("devnet_end_fault", { fault_id: fault_id ?? 0 });
  await net.wallets.shop.balance();
  await ask("devnet_fault", { at: "node", kind: "slow", delay_ms: 1 });
  await ask("devnet_end_fault", { all: true });
  assert.deepEqual(await ask("devnet_list_faults"), { faults: [] });
});

test("what makes no sense is refused with a code that says so", async () => {
  const { badRequest, refusedByNode } = devnetErrors;
  await assert.rejects(ask("devnet_revert", { snapshot_id: 99 }), refusedWith(badRequest));
  await assert.rejects(ask("devnet_fault", { at: "node", kind: "odd" }), refusedWith(badRequest));
  await assert.rejects(ask("devnet_reorg", { depth: 10_000 }), refusedWith(badRequest));
  await assert.rejects(ask("devnet_set_time", { time: 1 }), refusedWith(badRequest));
  await assert.rejects(ask("devnet_end_fault", { fault_id: 99 }), refusedWith(badRequest));
  await assert.rejects(ask("devnet_auto_mine", { mode: "often" }), refusedWith(badRequest));
  await assert.rejects(ask("devnet_mine", { blocks: 1, to: "nobody" }), refusedWith(refusedByNode));
  await assert.rejects(ask("devnet_mine", { blocks: "many" }), refusedWith(-32602));
});

test("every call of the service is in its OpenRPC document", async () => {
  const { methods } = await ask("rpc.discover");
  const names = (methods as { name: string }[]).map(({ name }) => name);
  assert.ok(names.includes("devnet_snapshot") && names.includes("devnet_fault"));
});
