import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { CallFailed, type Devnet, type Exact, type ExactObject, startDevnet } from "@anulo/testkit";
import { bigintOf, listOf } from "../actors.ts";

let devnet: Devnet;
before(async () => {
  devnet = await startDevnet({ seed: 13 });
  await devnet.mine(120);
  await alice("refresh");
});
after(() => devnet.stop());

const alice = (method: string, params: Exact = {}) => devnet.wallets.alice.call(method, params);
const bob = () => devnet.wallets.bob.address;

/** An amount nothing else in this file pays. */
let paid = 0n;
const nextAmount = () => coin + ++paid;

/** Ids of the transactions that paid bob an amount, those of the pool included. */
async function received(amount: bigint): Promise<string[]> {
  const { call } = devnet.wallets.bob;
  await call("refresh");
  const { in: mined, pool } = await call("get_transfers", { in: true, pool: true });
  const all = [...listOf(mined), ...listOf(pool)];
  return all.filter((entry) => bigintOf(entry.amount) === amount).map(({ txid }) => String(txid));
}

async function refusalOf(asked: Promise<unknown>): Promise<CallFailed> {
  const error = await asked.then(
    () => assert.fail("it was not refused"),
    (refusal: unknown) => refusal,
  );
  assert.ok(error instanceof CallFailed, String(error));
  return error;
}

const transferOf = (amount: bigint): ExactObject => ({ destinations: [{ address: bob(), amount }] });
const stateOf = async (key: string) => (await alice("get_intent", { idempotency_key: key })).state;

test("a transfer repeated with its key is answered the same and pays once, also when the wallet was closed", async () => {
  const amount = nextAmount();
  const asked = { ...transferOf(amount), get_tx_key: true, idempotency_key: "first" };
  const first = await alice("transfer", asked);
  assert.deepEqual(await alice("transfer", asked), first);
  assert.deepEqual(await alice("transfer", { ...asked, priority: 0, unlock_time: 0 }), first);
  await alice("close_wallet");
  await alice("open_wallet", { filename: "alice", password: "" });
  assert.deepEqual(await alice("transfer", asked), first);
  await alice("refresh");
  assert.equal(await stateOf("first"), "seen");
  assert.deepEqual(await received(amount), [first.tx_hash]);
  await devnet.mine(1);
  await alice("refresh");
  assert.deepEqual(await alice("transfer", asked), first);
  const told = await alice("get_intent", { idempotency_key: "first" });
  assert.deepEqual([told.method, told.state], ["transfer", "mined"]);
  const [{ tx_hash, height } = {}] = listOf(told.transactions);
  assert.equal(tx_hash, first.tx_hash);
  assert.equal(bigintOf(height), bigintOf((await alice("get_height")).height) - 1n);
  assert.deepEqual(await received(amount), [first.tx_hash]);
});

test("a key stands for one call: other params, or another method, are refused and pay nothing", async () => {
  const amount = nextAmount();
  const other = nextAmount();
  await alice("transfer", { ...transferOf(amount), idempotency_key: "taken" });
  for (const [method, params] of [
    ["transfer", transferOf(other)],
    ["transfer", { ...transferOf(amount), get_tx_hex: true }],
    ["transfer_split", transferOf(amount)],
  ] as const) {
    const { code, reason } = await refusalOf(alice(method, { ...params, idempotency_key: "taken" }));
    assert.equal(code, -422);
    assert.match(reason, /idempotency key was given before, with transfer/);
  }
  assert.equal((await received(amount)).length, 1);
  assert.deepEqual(await received(other), []);
});

test("callers that come at once with one key get one answer", async () => {
  const amount = nextAmount();
  const asked = { ...transferOf(amount), idempotency_key: "at-once" };
  const answers = await Promise.all(Array.from({ length: 20 }, () => alice("transfer", asked)));
  for (const answer of answers) assert.deepEqual(answer, answers[0]);
  assert.deepEqual(await received(amount), [answers[0]!.tx_hash]);
});

test("the key may come as a header", async () => {
  const amount = nextAmount();
  const post = async () => {
    const body = {
      jsonrpc: "2.0",
      id: "0",
      method: "transfer",
      params: { ...transferOf(amount), mixin: 15 },
    };
    const response = await fetch(`${devnet.wallets.alice.url}/json_rpc`, {
      method: "POST",
      headers: { "Idempotency-Key": "by-header" },
      body: JSON.stringify(body, (_, value) => (typeof value === "bigint" ? Number(value) : value)),
    });
    return (await response.json()) as { result: { tx_hash: string } };
  };
  const first = await post();
  assert.deepEqual(await post(), first);
  const asField = { ...transferOf(amount), mixin: 15, idempotency_key: "by-header" };
  assert.equal((await alice("transfer", asField)).tx_hash, first.result.tx_hash);
  assert.deepEqual(await received(amount), [first.result.tx_hash]);
});

test("a refusal before anything is signed does not use the key up", async () => {
  const tooMuch = { ...transferOf(10_000_000n * coin), idempotency_key: "unused" };
  const { code, data } = await refusalOf(alice("transfer", tooMuch));
  assert.ok(code === -17 || code === -37, String(code));
  assert.deepEqual(data, {});
  assert.equal((await refusalOf(alice("get_intent", { idempotency_key: "unused" }))).code, -404);
  const amount = nextAmount();
  await alice("transfer", { ...transferOf(amount), idempotency_key: "unused" });
  assert.equal((await received(amount)).length, 1);
});

/** Two transactions that spend one output; only one of them can ever be mined. */
async function rivals(): Promise<[string, string]> {
  await alice("refresh");
  const { transfers } = await alice("incoming_transfers", { transfer_type: "available" });
  const [{ key_image } = {}] = listOf(transfers).filter(({ unlocked }) => unlocked === true);
  const sweep = { address: bob(), key_image: String(key_image), do_not_relay: true, get_tx_metadata: true };
  const [one, other] = [await alice("sweep_single", sweep), await alice("sweep_single", sweep)];
  assert.notEqual(one.tx_hash, other.tx_hash);
  return [String(one.tx_metadata), String(other.tx_metadata)];
}

test("what the node refuses at first sight has failed for good: the same refusal again, and another key pays", async () => {
  const [one, other] = await rivals();
  await alice("relay_tx", { hex: one, idempotency_key: "rival-1" });
  const asked = { hex: other, idempotency_key: "rival-2" };
  const refusal = await refusalOf(alice("relay_tx", asked));
  assert.deepEqual([refusal.code, refusal.data], [-4, {}]);
  assert.match(refusal.reason, /rejected by daemon \(.*double spend.*\)/);
  const again = await refusalOf(alice("relay_tx", asked));
  assert.deepEqual([again.code, again.reason], [refusal.code, refusal.reason]);
  const told = await alice("get_intent", { idempotency_key: "rival-2" });
  assert.deepEqual(
    [told.state, told.error, listOf(told.transactions)],
    ["failed", { code: -4, message: refusal.reason }, []],
  );
  const amount = nextAmount();
  await alice("transfer", { ...transferOf(amount), idempotency_key: "rival-3" });
  assert.equal((await received(amount)).length, 1);
});

test("what a caller sends itself is handed out once, and followed from there", async () => {
  const amount = nextAmount();
  const held = {
    ...transferOf(amount),
    do_not_relay: true,
    get_tx_hex: true,
    get_tx_metadata: true,
    idempotency_key: "held",
  };
  const first = await alice("transfer", held);
  assert.deepEqual(await alice("transfer", held), first);
  await alice("refresh");
  assert.equal(await stateOf("held"), "signed");
  assert.deepEqual(await received(amount), []);
  const sent = await alice("relay_tx", { hex: String(first.tx_metadata), idempotency_key: "held-sent" });
  assert.deepEqual(
    await alice("relay_tx", { hex: String(first.tx_metadata), idempotency_key: "held-sent" }),
    sent,
  );
  await alice("refresh");
  assert.deepEqual([await stateOf("held"), await stateOf("held-sent")], ["seen", "seen"]);
  assert.deepEqual(await received(amount), [first.tx_hash]);
});

test("several transactions of one call are one payment", async () => {
  await devnet.mine(1);
  await alice("refresh");
  const amounts = Array.from({ length: 20 }, nextAmount);
  const destinations = amounts.map((amount) => ({ address: bob(), amount }));
  const asked = { destinations, get_tx_keys: true, idempotency_key: "split" };
  const first = await alice("transfer_split", asked);
  const ids = first.tx_hash_list as string[];
  assert.ok(ids.length > 1);
  assert.deepEqual(await alice("transfer_split", asked), first);
  const { transactions } = await alice("get_intent", { idempotency_key: "split" });
  assert.deepEqual(
    listOf(transactions).map(({ tx_hash }) => tx_hash),
    ids,
  );
  const { call } = devnet.wallets.bob;
  await call("refresh");
  const { pool } = await call("get_transfers", { pool: true });
  const sums = listOf(pool).filter(({ txid }) => ids.includes(String(txid)));
  const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);
  assert.equal(sums.length, ids.length);
  assert.equal(sum(sums.map(({ amount }) => bigintOf(amount))), sum(amounts));
});

test("payments are listed in their order, those without a key by one of ours, page by page", async () => {
  const { tx_hash } = await alice("transfer", transferOf(nextAmount()));
  const keys: string[] = [];
  let last: ExactObject | undefined;
  for (let after: string | undefined; ; ) {
    const { intents } = await alice("list_intents", { limit: 3, ...(after !== undefined && { after }) });
    const page = listOf(intents);
    if (page.length === 0) break;
    assert.ok(page.length <= 3);
    last = page.at(-1);
    after = String(last!.idempotency_key);
    keys.push(...page.map(({ idempotency_key }) => String(idempotency_key)));
  }
  assert.equal(new Set(keys).size, keys.length);
  assert.deepEqual(keys.slice(0, 2), ["first", "taken"]);
  assert.match(keys.at(-1)!, /^[0-9a-f]{32}$/);
  assert.equal(listOf(last!.transactions)[0]?.tx_hash, tx_hash);
  const reused = { ...transferOf(nextAmount()), idempotency_key: keys.at(-1)! };
  assert.equal((await refusalOf(alice("transfer", reused))).code, -422);
  assert.equal((await refusalOf(alice("list_intents", { after: "none" }))).code, -404);
});
