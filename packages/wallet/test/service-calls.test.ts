/** Calls about scanning, the node and the service, with a wallet and a node that are made up. */
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { wallet as declared } from "@anulo/rpc";
import { WalletRefusal } from "../src/refusal.ts";
import { serviceHandlers } from "../src/rpc/service.ts";

type Name = keyof typeof declared.service;

/** Makes a call in a context of which only these parts are there. */
async function make(name: Name, params: object, context: object): Promise<unknown> {
  const found = serviceHandlers.find(({ call }) => call === declared.service[name]);
  return await found!.handler!(params as never, context as never);
}

const withNode = (client: object) => ({
  opened: { wallet: { addressOf: () => "an address", daemon: { client } } },
});

test("mining begins and ends as the node says, and every refusal of the node is one error", async () => {
  const asked: object[] = [];
  let status = "OK";
  const client = {
    startMining: async (params: object) => {
      asked.push(params);
      return { status };
    },
    stopMining: async () => ({ status }),
  };
  const options = { do_background_mining: false, ignore_battery: true };
  assert.deepEqual(await make("startMining", { threads_count: 1n, ...options }, withNode(client)), {});
  assert.deepEqual(asked, [{ miner_address: "an address", threads_count: 1n, ...options }]);
  assert.deepEqual(await make("stopMining", {}, withNode(client)), {});
  for (status of ["BUSY", "Failed, mining not started"]) {
    const begun = make("startMining", { threads_count: 1n, ...options }, withNode(client));
    await assert.rejects(begun, { code: -1, message: "Couldn't start mining due to unknown error." });
    const stopped = make("stopMining", {}, withNode(client));
    await assert.rejects(stopped, { code: -1, message: "Couldn't stop mining due to unknown error." });
  }
  const fault = new RangeError("a fault");
  const broken = { stopMining: async () => Promise.reject(fault) };
  await assert.rejects(make("stopMining", {}, withNode(broken)), fault);
});

test("mining takes at least one thread, and at most as many as there are processors, or two", async () => {
  const most = BigInt(Math.max(availableParallelism(), 2));
  const taken: bigint[] = [];
  const client = {
    startMining: async ({ threads_count }: { threads_count: bigint }) => {
      taken.push(threads_count);
      return { status: "OK" };
    },
  };
  for (const threads_count of [1n, most]) await make("startMining", { threads_count }, withNode(client));
  for (const threads_count of [0n, most + 1n])
    await assert.rejects(make("startMining", { threads_count }, withNode(client)), { code: -1 });
  assert.deepEqual(taken, [1n, most]);
});

test("a refresh period is set, or the usual one with none, or no refreshes at all", async () => {
  const planned: (number | undefined)[] = [];
  const service = { setRefreshPeriod: (period: number | undefined) => void planned.push(period) };
  for (const params of [
    { enable: true, period: 7 },
    { enable: true, period: 0 },
    { enable: false, period: 7 },
  ])
    assert.deepEqual(await make("autoRefresh", params, { service }), {});
  assert.deepEqual(planned, [7, undefined, 0]);
});

test("who has no token, or one with admin, chooses where a refresh starts; others start where the wallet is", async () => {
  const tokenOf = (...scopes: string[]) => ({
    allows: (scope: string) => scopes.includes(scope),
    onRefused: () => undefined,
  });
  const starts: number[] = [];
  const wallet = {
    height: 100,
    refresh: async (from: number) => {
      starts.push(from);
      return { blocksFetched: 3, receivedMoney: true };
    },
  };
  const refresh = (start_height: number, token?: object) =>
    make("refresh", { start_height }, { opened: { wallet }, token });
  assert.deepEqual(await refresh(500), { blocks_fetched: 3, received_money: true });
  await refresh(500, tokenOf("admin"));
  for (const start of [0, 50, 100]) await refresh(start, tokenOf("read"));
  assert.deepEqual(starts, [500, 500, 0, 0, 0]);
  await assert.rejects(refresh(101, tokenOf("read")), { code: -403 });
  assert.equal(starts.length, 5);
});

test("a rescan deletes what the interface document says, unless the caller says otherwise", async () => {
  const rescans: object[] = [];
  const opened = { wallet: { rescan: async (options: object) => void rescans.push(options) } };
  for (const dialect of ["contract", "upstream"])
    for (const hard of [undefined, true, false])
      await make("rescanBlockchain", { hard }, { opened, dialect });
  assert.deepEqual(rescans, [
    { hard: true, keepsNotes: false },
    { hard: true, keepsNotes: false },
    { hard: false, keepsNotes: false },
    { hard: false, keepsNotes: true },
    { hard: true, keepsNotes: true },
    { hard: false, keepsNotes: true },
  ]);
});

test("only the path without a name stops the service, and only known levels are set", async () => {
  await assert.rejects(make("stopWallet", {}, { service: { name: "w" } }), { code: -7 });
  const changes: string[] = [];
  const log = { change: (text: string) => void changes.push(text), categories: "*:INFO" };
  for (const level of [0, 4])
    assert.deepEqual(await make("setLogLevel", { level }, { service: { log } }), {});
  for (const level of [-1, 5])
    await assert.rejects(make("setLogLevel", { level }, { service: { log } }), WalletRefusal);
  const answer = await make("setLogCategories", { categories: "net:DEBUG" }, { service: { log } });
  assert.deepEqual([answer, changes], [{ categories: "*:INFO" }, ["0", "4", "net:DEBUG"]]);
});
