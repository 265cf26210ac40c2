import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { toHex, transactionHash } from "@anulo/protocol";
import {
  type BlocksAnswer,
  forkedChain,
  type RecordedNode,
  recorded,
  recordedChain,
  recordedPool,
  recordedSideBlocks,
  recordedSteps,
  sentBy,
  startRecordedNode,
} from "./recorded-node.ts";
import { startTestService, type TestService } from "./service.ts";

let node: RecordedNode;
const services = new Map<string, TestService>();

before(async () => {
  node = await startRecordedNode();
  for (const name of ["a", "b"] as const) {
    node.pool = poolWithout(sentBy[name]);
    services.set(name, await restore(name));
  }
});
after(async () => {
  for (const { stop } of services.values()) await stop();
  await node.stop();
});

/** The pool as the recorded program saw it, which took no notice of what another copy of a wallet had sent. */
const poolWithout = (id: string) => recordedPool.filter((tx) => toHex(transactionHash(tx)) !== id);

/** A service with one of the recorded wallets, scanned to the end of the chain. */
async function restore(name: string, height = 0): Promise<TestService> {
  const started = await startTestService({ node: node.url });
  const { mnemonic } = recorded.wallets[name]!;
  await started.call.restoreDeterministicWallet({ filename: "w", seed: mnemonic, restore_height: height });
  await started.call.refresh({});
  return started;
}

/** Sorted deeply and free of what is our own or differs from run to run. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(sorted).sort((x, y) => (JSON.stringify(x) < JSON.stringify(y) ? -1 : 1));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([key]) => key !== "tx_size" && key !== "timestamp");
  return Object.fromEntries(fields.sort().map(([key, item]) => [key, sorted(item)]));
}

/** Answers as the real program gave them, for the recorded calls of these methods before anything was changed. */
const untouched = [
  "get_balance",
  "get_height",
  "get_accounts",
  "incoming_transfers",
  "get_transfers",
  "get_payments",
  "get_bulk_payments",
];

test("a restored wallet answers what the original program answered on the same chain", async () => {
  let compared = 0;
  const changed = new Set<string>();
  for (const { to, request, answer, id } of recordedSteps("wallet_read")) {
    const method = request.body?.method ?? "";
    if (/^(create|label|set|tag|freeze)/.test(method)) changed.add(to);
    if (!untouched.includes(method) || (changed.has(to) && /balance|accounts/.test(method))) continue;
    const started = services.get(to)!;
    node.pool = poolWithout(sentBy[to as keyof typeof sentBy]);
    const response = await fetch(`${started.service.url}/json_rpc`, {
      method: "POST",
      body: JSON.stringify(request.body),
    });
    assert.deepEqual(sorted(await response.json()), sorted(answer.json), id);
    compared += 1;
  }
  assert.ok(compared > 100, `${compared} recorded answers compared`);
  node.pool = recordedPool;
  for (const { call } of services.values()) await call.refresh({});
});

test("the answer to a second refresh is that nothing is new", async () => {
  const { call } = services.get("a")!;
  assert.deepEqual(await call.refresh({}), { blocks_fetched: 0, received_money: false });
});

test("a reorganisation takes back what its blocks brought, and the old chain brings it again", async () => {
  const { call } = services.get("a")!;
  const whole = await call.getBalance({ all_accounts: true });
  const wholeHistory = await call.getTransfers({ in: true, out: true, all_accounts: true });
  node.chain = [...recordedChain.slice(0, 103), ...recordedSideBlocks];
  await call.refresh({});
  const shorter = await call.getTransfers({ in: true, out: true, all_accounts: true });
  const kept = (entries: { height: number; txid: string }[] | undefined) =>
    (entries ?? []).filter(({ height }) => height < 103).map(({ txid }) => txid);
  assert.deepEqual(kept(shorter.in), kept(wholeHistory.in));
  assert.deepEqual(kept(shorter.out), kept(wholeHistory.out));
  assert.equal((await call.getHeight()).height, 105);
  node.chain = recordedChain;
  await call.refresh({});
  assert.deepEqual(await call.getBalance({ all_accounts: true }), whole);
  assert.deepEqual(await call.getTransfers({ in: true, out: true, all_accounts: true }), wholeHistory);
});

test("payments mined again in other blocks are the same payments", async () => {
  const { call } = services.get("b")!;
  const before = await call.incomingTransfers({ transfer_type: "all" });
  node.chain = forkedChain(60);
  assert.deepEqual(await call.refresh({}), { blocks_fetched: 48, received_money: false });
  assert.deepEqual(await call.incomingTransfers({ transfer_type: "all" }), before);
  node.chain = recordedChain;
  await call.refresh({});
  assert.deepEqual(await call.incomingTransfers({ transfer_type: "all" }), before);
});

test("a chain that would undo more than a hundred blocks is refused and changes nothing", async () => {
  const { call } = services.get("a")!;
  const before = await call.getBalance({ all_accounts: true });
  node.chain = forkedChain(2);
  await assert.rejects(call.refresh({}), /reorg exceeds maximum allowed depth: 106 blocks/);
  assert.deepEqual(await call.getBalance({ all_accounts: true }), before);
  node.chain = recordedChain;
  assert.deepEqual(await call.refresh({}), { blocks_fetched: 0, received_money: false });
});

test("blocks that don't follow one another are refused", async () => {
  const { call } = services.get("a")!;
  node.chain = [...recordedChain.slice(0, 50), ...recordedSideBlocks];
  await assert.rejects(call.refresh({}), /don't follow one another/);
  node.chain = recordedChain;
});

test("nor is a second block taken that does not follow the first", async (t) => {
  const { call } = await startTestService({ node: node.url }, t);
  node.chain = [...recordedChain.slice(0, 1), ...recordedChain.slice(2)];
  t.after(() => (node.chain = recordedChain));
  const { mnemonic } = recorded.wallets.a!;
  await call.restoreDeterministicWallet({ filename: "w", seed: mnemonic, restore_height: 0 });
  await assert.rejects(call.refresh({}), /don't follow one another/);
});

test("a payment in the pool shows before it is mined and goes when it has left the pool", async () => {
  const { call } = services.get("a")!;
  const pool = async () => (await call.getTransfers({ pool: true, all_accounts: true })).pool ?? [];
  assert.equal((await pool()).length, 1);
  const waiting = node.pool;
  node.pool = [];
  assert.deepEqual(await pool(), []);
  node.pool = waiting;
  assert.equal((await pool())[0]!.type, "pool");
});

test("the node is asked once for what is new in the pool, and again only for all of it", async () => {
  const { call } = services.get("a")!;
  const waiting = async () => (await call.getTransfers({ pool: true, all_accounts: true })).pool ?? [];
  node.pool = [];
  await waiting();
  node.pool = recordedPool;
  node.asked.length = 0;
  const [ours] = await waiting();
  const ids = recordedPool.map((tx) => toHex(transactionHash(tx)));
  assert.ok(ids.length > 1 && ids.includes(ours!.txid));
  assert.deepEqual([...node.asked].sort(), ids.toSorted());
  await waiting();
  await call.refresh({});
  assert.equal(node.asked.length, ids.length, "nothing is asked twice");
  assert.equal(ours!.double_spend_seen, false);
  node.contradicted = [ours!.txid];
  assert.equal((await waiting())[0]!.double_spend_seen, true);
  assert.equal(node.asked.length, 2 * ids.length, "all of them, so that none stands out");
  node.contradicted = [];
});

test("rescanning finds the same again", async () => {
  const { call } = services.get("b")!;
  const before = await call.getTransfers({ in: true, out: true, all_accounts: true });
  const balance = await call.getBalance({ all_accounts: true });
  await call.rescanBlockchain({});
  assert.deepEqual(await call.getTransfers({ in: true, out: true, all_accounts: true }), before);
  assert.deepEqual(await call.getBalance({ all_accounts: true }), balance);
});

test("a wallet restored at a height sees what was mined for it from there on", async () => {
  const { call, stop } = await restore("a", 90);
  const { in: received } = await call.getTransfers({ in: true });
  const { in: all } = await services
    .get("a")!
    .call.getTransfers({ in: true, filter_by_height: true, min_height: 89 });
  const mined = (entries: typeof all) => entries?.filter(({ type }) => type === "block");
  assert.deepEqual(mined(received), mined(all));
  assert.equal(mined(all)?.length, 18);
  assert.equal((await call.getHeight()).height, 108);
  await stop();
});

test("a fork right below the height a wallet starts at is followed", async () => {
  const { call, stop } = await restore("a", 107);
  node.chain = forkedChain(100);
  assert.deepEqual(await call.refresh({}), { blocks_fetched: 1, received_money: false });
  node.chain = recordedChain;
  await call.refresh({});
  assert.equal((await call.getTransfers({ in: true })).in?.length, 1);
  await stop();
});

test("a restore height beyond the chain scans nothing and is no error", async () => {
  const { call, stop } = await restore("a", 10_000);
  assert.deepEqual((await call.getTransfers({ in: true })).in ?? [], []);
  assert.equal((await call.getHeight()).height, 108);
  await stop();
});

test("a node that leaves out blocks, or tells of others than asked for, hides nothing: it is refused", async (t) => {
  const liar = await startRecordedNode();
  t.after(() => liar.stop());
  const without = (count: number, start: number) => (answer: BlocksAnswer) => ({
    ...answer,
    blocks: answer.blocks.slice(count),
    output_indices: answer.output_indices.slice(count),
    start_height: answer.start_height + start,
  });
  const lies: [string, RecordedNode["lie"]][] = [
    [
      "blocks missing after the first answer",
      (answer) => (answer.start_height === 0 ? answer : without(3, 3)(answer)),
    ],
    [
      "blocks missing and the others moved",
      (answer) => (answer.start_height === 0 ? answer : without(3, 0)(answer)),
    ],
    ["blocks missing from the start", without(30, 30)],
    ["heights that can't be", (answer) => ({ ...answer, start_height: answer.start_height + 2 ** 40 })],
  ];
  for (const [name, lie] of lies) {
    const { call, stop } = await startTestService({ node: liar.url });
    t.after(stop);
    const { mnemonic } = recorded.wallets.a!;
    await call.restoreDeterministicWallet({ filename: "", seed: mnemonic });
    liar.lie = lie;
    await assert.rejects(call.refresh({}), /another place than asked for/, name);
    // Once its responses are true, nothing is missing.
    liar.lie = (answer) => answer;
    await call.refresh({});
    assert.deepEqual(await call.getBalance({}), await services.get("a")!.call.getBalance({}), name);
  }
});

test("money locked for ever, which anybody can send, leaves everything else to be read", async (t) => {
  const forEver = 2n ** 64n - 1n;
  const locking = await startRecordedNode();
  t.after(() => locking.stop());
  locking.chain = forkedChain(1, forEver);
  const { call, stop } = await startTestService({ node: locking.url });
  t.after(stop);
  await call.restoreDeterministicWallet({ filename: "", seed: recorded.wallets.a!.mnemonic });
  await call.refresh({});
  const now = BigInt(Math.floor(Date.now() / 1000));
  const { time_to_unlock, per_subaddress } = await call.getBalance({ all_accounts: true });
  assert.ok(forEver - time_to_unlock - now < 1000n);
  assert.ok(per_subaddress.some((each) => each.time_to_unlock === time_to_unlock));
  await call.getAccounts({});
  const { in: received = [] } = await call.getTransfers({ in: true });
  const locked = received.filter(({ unlock_time }) => unlock_time === forEver);
  assert.ok(locked.length > 0);
  for (const { suggested_confirmations_threshold: threshold } of locked)
    assert.ok((threshold ?? 0n) > 2n ** 53n);
});
