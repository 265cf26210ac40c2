import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createNode, type Node } from "@anulo/node";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { call, type ExactObject, loadChain } from "@anulo/testkit";
import { bigintOf, listOf } from "../actors.ts";
import { type Endings, endAll, startOurs } from "./start.ts";
import { ask, type Service, type Start } from "./states.ts";

const { alice, bob } = loadChain().wallets;
const endings: Endings = [];
let node: Node;
let nodeUrl: string;
let start: Start;

const mine = (blocks: number, address = alice.address) =>
  call(nodeUrl, "generateblocks", { amount_of_blocks: blocks, wallet_address: address });

before(async () => {
  const listen = [{ host: "127.0.0.1", port: 0 }];
  node = createNode({ network: "regtest", fixedDifficulty: 1n, offline: true, listen, verifyThreads: 0 });
  await node.start();
  endings.push(() => node.stop());
  nodeUrl = node.urls[0]!;
  start = startOurs(nodeUrl.replace("http://", ""), "contract", endings);
  await mine(90);
});
after(() => endAll(endings));

const restore = (service: Service, filename: string, seed = alice.mnemonic, more: ExactObject = {}) =>
  call(service.url, "restore_deterministic_wallet", { filename, password: "p", seed, ...more });

async function funded(): Promise<Service> {
  const service = await start({});
  await restore(service, "alice");
  await call(service.url, "refresh");
  return service;
}

/** Ids of the transactions that wait at the node. */
async function waiting(): Promise<string[]> {
  const response = await fetch(`${nodeUrl}/get_transaction_pool_hashes`, { method: "POST", body: "{}" });
  return ((await response.json()) as { tx_hashes?: string[] }).tx_hashes ?? [];
}

const payment = { destinations: [{ address: bob.address, amount: coin }] };
const noWallet = { code: -13, message: "No wallet file" };
const failedToOpen = (why: string) => ({ code: -1, message: `Failed to open wallet : ${why}` });

test("no wallet open → open_wallet → wallet open → close_wallet → no wallet open", async () => {
  const service = await start({});
  await restore(service, "w");
  assert.deepEqual(await call(service.url, "close_wallet"), {});
  assert.deepEqual(await ask(service, "get_height"), noWallet);
  const open = (filename: string, password = "p") => ask(service, "open_wallet", { filename, password });
  const absent = join(service.walletDir, "absent.keys");
  assert.deepEqual(await open("absent"), failedToOpen(`file not found "${absent}"`));
  assert.deepEqual(await open("w", "wrong"), failedToOpen("Invalid password."));
  assert.deepEqual(await ask(service, "get_height"), noWallet);
  assert.deepEqual(await open("w"), { result: {} });
  assert.equal((await call(service.url, "get_address")).address, alice.address);
});

for (const autosave_current of [true, false]) {
  test(`restore and generate save and close the wallet before (autosave ${autosave_current})`, async () => {
    const service = await start({});
    await restore(service, "one");
    await call(service.url, "set_attribute", { key: "k", value: "of one" });
    const restored = await restore(service, "two", bob.mnemonic, { autosave_current });
    assert.equal(restored.address, bob.address);
    assert.equal(restored.seed, bob.mnemonic);
    assert.equal((await call(service.url, "get_address")).address, bob.address);
    const { address, view_key: viewkey } = alice;
    const params = { filename: "three", password: "p", address, viewkey, autosave_current };
    const generated = await call(service.url, "generate_from_keys", params);
    assert.deepEqual(generated, { address, info: "Watch-only wallet has been generated successfully." });
    assert.equal(
      ((await ask(service, "query_key", { key_type: "spend_key" })) as { code: number }).code,
      -29,
    );
    await call(service.url, "open_wallet", { filename: "one", password: "p" });
    assert.equal((await call(service.url, "get_attribute", { key: "k" })).value, "of one");
    for (const name of ["one", "two", "three"])
      assert.ok(existsSync(join(service.walletDir, `${name}.keys`)));
  });
}

test("a file that is there already is not overwritten, and the open wallet stays", async () => {
  const service = await start({});
  await restore(service, "one");
  assert.deepEqual(
    await ask(service, "restore_deterministic_wallet", { filename: "one", seed: bob.mnemonic }),
    {
      code: -1,
      message: "Wallet already exists.",
    },
  );
  assert.equal((await call(service.url, "get_address")).address, alice.address);
});

test("store leaves the wallet open; stop_wallet ends the service from any state", async () => {
  const service = await start({});
  await restore(service, "w");
  assert.deepEqual(await call(service.url, "store"), {});
  assert.equal((await call(service.url, "get_address")).address, alice.address);
  for (const each of [service, await start({})]) {
    assert.deepEqual(await call(each.url, "stop_wallet"), {});
    await untilGone(each);
  }
  const again = await start({ walletDir: service.walletDir });
  await call(again.url, "open_wallet", { filename: "w", password: "p" });
});

async function untilGone(service: Service): Promise<void> {
  for (;;) {
    try {
      await ask(service, "get_version");
    } catch {
      return;
    }
  }
}

test("a transaction that is not relayed waits nowhere, until relay_tx", async () => {
  const service = await funded();
  const held = await call(service.url, "transfer", { ...payment, do_not_relay: true, get_tx_metadata: true });
  assert.ok(!(await waiting()).includes(String(held.tx_hash)));
  const { tx_hash } = await call(service.url, "relay_tx", { hex: String(held.tx_metadata) });
  assert.equal(tx_hash, held.tx_hash);
  assert.ok((await waiting()).includes(String(tx_hash)));
  const sent = await call(service.url, "transfer", payment);
  assert.ok((await waiting()).includes(String(sent.tx_hash)));
  await mine(1);
});

test("what spends nothing of the wallet is relayed, and counts neither as its payment nor as its change", async () => {
  const payer = await funded();
  const service = await start({});
  await restore(service, "bob", bob.mnemonic);
  await call(service.url, "refresh");
  const { balance } = await call(service.url, "get_balance");
  const held = await call(payer.url, "transfer", { ...payment, do_not_relay: true, get_tx_metadata: true });
  const relay = { hex: String(held.tx_metadata), idempotency_key: "of-another" };
  const answer = { tx_hash: String(held.tx_hash) };
  assert.deepEqual(await call(service.url, "relay_tx", relay), answer);
  assert.ok((await waiting()).includes(answer.tx_hash));
  const lists = await call(service.url, "get_transfers", { out: true, pending: true, pool: true });
  assert.deepEqual([lists.out, lists.pending], [[], []]);
  assert.deepEqual(
    listOf(lists.pool).map(({ txid, amount }) => [txid, amount]),
    [[answer.tx_hash, Number(coin)]],
  );
  await mine(1);
  await call(service.url, "refresh");
  assert.equal(bigintOf((await call(service.url, "get_balance")).balance!), bigintOf(balance!) + coin);
  // Mined by now, so that the node takes it no more.
  assert.deepEqual(await call(service.url, "relay_tx", relay), answer);
  assert.deepEqual(await call(service.url, "relay_tx", { hex: relay.hex }), answer);
  await call(payer.url, "refresh");
  const { out } = await call(payer.url, "get_transfers", { out: true });
  assert.ok(listOf(out).some(({ txid }) => txid === answer.tx_hash));
});

test("unsigned set → signed set → submitted", async () => {
  const hot = await start({});
  const { address, view_key: viewkey } = alice;
  await call(hot.url, "generate_from_keys", { filename: "view", password: "", address, viewkey });
  await call(hot.url, "refresh");
  const cold = await start({ isOffline: true });
  await restore(cold, "cold");
  const { outputs_data_hex } = await call(hot.url, "export_outputs", { all: true });
  await call(cold.url, "import_outputs", { outputs_data_hex: String(outputs_data_hex) });
  const { signed_key_images } = await call(cold.url, "export_key_images", { all: true });
  await call(hot.url, "import_key_images", { signed_key_images: listOf(signed_key_images) });
  const before = await waiting();
  const { unsigned_txset } = await call(hot.url, "transfer", payment);
  const signed = await call(cold.url, "sign_transfer", { unsigned_txset: String(unsigned_txset) });
  assert.deepEqual(await waiting(), before);
  const tx_data_hex = String(signed.signed_txset);
  const { tx_hash_list } = await call(hot.url, "submit_transfer", { tx_data_hex });
  assert.deepEqual(tx_hash_list, signed.tx_hash_list);
  assert.ok((await waiting()).includes(String((tx_hash_list as string[])[0])));
  await mine(1);
});

async function createSigners(): Promise<{ signers: Service[]; address: string }> {
  const signers = [await start({}), await start({})];
  const strings: string[] = [];
  for (const { url } of signers) {
    await call(url, "create_wallet", { filename: "signer", language: "English" });
    strings.push(String((await call(url, "prepare_multisig")).multisig_info));
    assert.equal((await call(url, "is_multisig")).multisig, false);
  }
  let address = "";
  for (const [i, { url }] of signers.entries()) {
    await call(url, "set_attribute", { key: "k", value: "kept" });
    const tooHigh = { multisig_info: strings.toSpliced(i, 1), threshold: 3, password: "" };
    await assert.rejects(call(url, "make_multisig", tooHigh));
    assert.equal((await call(url, "is_multisig")).multisig, false);
    const made = await call(url, "make_multisig", { ...tooHigh, threshold: 2 });
    assert.equal(made.multisig_info, "");
    address = String(made.address);
    const { ready, threshold, total } = await call(url, "is_multisig");
    assert.deepEqual([ready, threshold, total], [true, 2, 2]);
    assert.equal((await call(url, "get_attribute", { key: "k" })).value, "kept");
  }
  return { signers, address };
}

test("ordinary → prepared → multisig → set → signed set → submitted", async () => {
  const { signers, address } = await createSigners();
  const [a, b] = signers as [Service, Service];
  await mine(3, address);
  await mine(65);
  const infos: string[] = [];
  for (const { url } of signers) {
    await call(url, "refresh");
    infos.push(String((await call(url, "export_multisig_info")).info));
  }
  for (const [i, { url }] of signers.entries()) {
    const { n_outputs } = await call(url, "import_multisig_info", { info: infos.toSpliced(i, 1) });
    assert.equal(bigintOf(n_outputs), 3n);
  }
  const { multisig_txset } = await call(a.url, "transfer", payment);
  const signed = await call(b.url, "sign_multisig", { tx_data_hex: String(multisig_txset) });
  const { tx_hash_list } = await call(b.url, "submit_multisig", { tx_data_hex: String(signed.tx_data_hex) });
  assert.deepEqual(tx_hash_list, signed.tx_hash_list);
  assert.ok((await waiting()).includes(String((tx_hash_list as string[])[0])));
});

test("node mining off → start_mining → on → stop_mining → off", async () => {
  const service = await start({});
  await restore(service, "w");
  const isMining = async () => {
    const response = await fetch(`${nodeUrl}/mining_status`, { method: "POST", body: "{}" });
    return ((await response.json()) as { active: boolean }).active;
  };
  assert.equal(await isMining(), false);
  await call(service.url, "start_mining", { threads_count: 1 });
  assert.equal(await isMining(), true);
  await call(service.url, "stop_mining");
  assert.equal(await isMining(), false);
});
