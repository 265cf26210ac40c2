import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { CallFailed, type Devnet, type ExactObject, startDevnet } from "@anulo/testkit";
import { bigintOf, listOf } from "../actors.ts";

let devnet: Devnet;

before(async () => {
  devnet = await startDevnet();
  await devnet.mine(100);
  await devnet.wallets.alice.balance();
});
after(() => devnet.stop());

const alice = () => devnet.wallets.alice;
const bob = () => devnet.wallets.bob;
const paying = (amount: bigint): ExactObject => ({ destinations: [{ address: bob().address, amount }] });
const open = () => alice().call("open_wallet", { filename: "alice", password: "" });

/** The result, or undefined where the call is refused because there is no such wallet any more. */
async function unlessClosed(asked: Promise<ExactObject>): Promise<ExactObject | undefined> {
  try {
    return await asked;
  } catch (error) {
    assert.ok(error instanceof CallFailed, String(error));
    assert.deepEqual([error.code, error.reason], [-13, "No wallet file"]);
    return undefined;
  }
}

async function receivedByBob(amount: bigint): Promise<number> {
  await bob().call("refresh");
  const { in: mined, pool } = await bob().call("get_transfers", { in: true, pool: true });
  return [mined, pool].flatMap(listOf).filter((entry) => bigintOf(entry.amount) === amount).length;
}

test("transfers asked for at once never spend the same output", async () => {
  const amounts = Array.from({ length: 6 }, (_, i) => coin + BigInt(i));
  const answers = await Promise.all(amounts.map((amount) => alice().call("transfer", paying(amount))));
  const images = answers.flatMap(
    ({ spent_key_images }) => (spent_key_images as ExactObject).key_images as string[],
  );
  assert.equal(new Set(images).size, images.length);
  await devnet.mine(1);
  for (const amount of amounts) assert.equal(await receivedByBob(amount), 1);
});

test("a sweep and a transfer at once don't either", async () => {
  await devnet.mine(12);
  await bob().call("refresh");
  const to = { address: alice().address };
  const [swept, sent] = await Promise.allSettled([
    bob().call("sweep_all", to),
    bob().call("transfer", { destinations: [{ ...to, amount: coin / 2n }] }),
  ]);
  assert.equal(swept.status, "fulfilled");
  assert.equal(sent.status, "rejected");
});

test("a transfer that is under way when its wallet is closed is sent and kept, or neither", async () => {
  for (let round = 0; round < 4; round++) {
    const amount = 2n * coin + BigInt(round);
    const transfer = alice().call("transfer", paying(amount));
    // The further it has come.
    for (let i = 0; i < 8 * round; i++) await bob().call("get_height");
    const [sent] = await Promise.all([unlessClosed(transfer), alice().call("close_wallet")]);
    await open();
    await alice().call("refresh");
    const { out, pending, failed } = await alice().call("get_transfers", {
      out: true,
      pending: true,
      failed: true,
    });
    const known = [out, pending, failed].flatMap(listOf).filter((entry) => bigintOf(entry.amount) === amount);
    assert.equal(known.length, sent === undefined ? 0 : 1);
    assert.equal(await receivedByBob(amount), known.length);
    if (sent !== undefined) await alice().call("get_tx_key", { txid: String(sent.tx_hash) });
    await devnet.mine(1);
  }
});

test("a wallet closed, or changed for another, in the midst of a scan is whole afterwards", async () => {
  await alice().call("refresh");
  const { transfers: expected } = await alice().call("incoming_transfers", { transfer_type: "all" });
  for (const leave of [
    () => alice().call("close_wallet"),
    () => alice().call("create_wallet", { filename: "other", language: "English" }),
  ]) {
    const rescan = alice().call("rescan_blockchain", { hard: false });
    const scan = alice().call("refresh");
    await Promise.all([unlessClosed(rescan), unlessClosed(scan), leave()]);
    await open();
    await alice().call("refresh");
    const { transfers } = await alice().call("incoming_transfers", { transfer_type: "all" });
    assert.deepEqual(transfers, expected);
  }
});

test("reads are answered while a rescan is under way, and none of them fails", async () => {
  const before = await alice().call("get_balance");
  const rescan = alice().call("rescan_blockchain", { hard: false });
  const reads = ["get_balance", "get_address", "get_height", "get_accounts", "incoming_transfers"].flatMap(
    (method) =>
      Array.from({ length: 20 }, () => alice().call(method, { transfer_type: "all", account_index: 0 })),
  );
  await Promise.all([rescan, ...reads]);
  assert.deepEqual(await alice().call("get_balance"), before);
});
