import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CallFailed,
  call,
  type Devnet,
  type DevnetOptions,
  type DevnetWallet,
  type ExactObject,
} from "../src/index.ts";
import { useDevnet } from "../src/node-test.ts";

const COIN = 10n ** 12n;
const HASH = /^[0-9a-f]{64}$/;

const refusal = (code: number) => (error: unknown) => error instanceof CallFailed && error.code === code;
const listOf = (value: unknown) => (value ?? []) as ExactObject[];
const total = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n);

async function transfersOf(wallet: DevnetWallet, type: string): Promise<ExactObject[]> {
  await wallet.call("refresh");
  return listOf((await wallet.call("get_transfers", { [type]: true }))[type]);
}

async function transferOf(wallet: DevnetWallet, txid: string): Promise<ExactObject> {
  await wallet.call("refresh");
  return (await wallet.call("get_transfer_by_txid", { txid })).transfer as ExactObject;
}

/** The original's first call on a connection that was reset fails, though the node is back. */
async function reconnect(wallet: DevnetWallet): Promise<void> {
  await wallet.call("refresh").catch((error: unknown) => {
    if (!refusal(-38)(error)) throw error;
  });
}

const OUTPUTS = [2n * COIN, 3n * COIN, 4n * COIN, 5n * COIN];
const MONEY = total(OUTPUTS);

type Shop = {
  readonly devnet: () => Devnet<"payer" | "shop">;
  readonly of: () => Devnet<"payer" | "shop">["wallets"];
  /** The payer scans, and calls `transfer`. */
  readonly send: (params: ExactObject) => Promise<ExactObject>;
  readonly paying: (amount: bigint, address?: string) => ExactObject;
};

/**
 * Payments as a shop meets them: the same tests for ours and for the original programs, on a devnet that is at its start
 * again before each.
 */
export function testPayments(options: Pick<DevnetOptions, "programs">): void {
  const devnet = useDevnet({ ...options, wallets: { payer: OUTPUTS, shop: [] } });
  const of = () => devnet().wallets;
  const shop: Shop = {
    devnet,
    of,
    send: async (params) => {
      await of().payer.call("refresh");
      return await of().payer.call("transfer", params);
    },
    paying: (amount, address = of().shop.address) => ({ destinations: [{ address, amount }] }),
  };
  testAmounts(shop);
  testAddresses(shop);
  testLimits(shop);
  testSweeps(shop);
  testProofs(shop);
  testLists(shop);
  testChain(shop);
}

function testAmounts({ devnet, of, paying, send }: Shop): void {
  for (const amount of [1n, 1_234_567_890_123n, 4n * COIN + 1n]) {
    test(`a payment of ${amount} arrives exactly`, async () => {
      await of().payer.pay(of().shop.address, amount);
      await devnet().mine(10);
      assert.deepEqual(await of().shop.balance(), { balance: amount, unlocked: amount });
    });
  }

  test("the payer has less by amount and fee", async () => {
    const { fee, amount } = await send(paying(COIN));
    assert.equal(BigInt(String(amount)), COIN);
    await devnet().mine(10);
    const left = MONEY - COIN - BigInt(String(fee));
    assert.deepEqual(await of().payer.balance(), { balance: left, unlocked: left });
  });

  test("a payment waits in the pool before it is mined", async () => {
    const txid = await of().payer.pay(of().shop.address, 5n);
    assert.equal((await transferOf(of().shop, txid)).type, "pool");
    assert.equal((await transferOf(of().payer, txid)).type, "pending");
    await devnet().mine(1);
    assert.equal((await transferOf(of().shop, txid)).type, "in");
    assert.equal((await transferOf(of().payer, txid)).type, "out");
  });

  test("a payment can be spent ten blocks after it was mined, not nine", async () => {
    await of().payer.pay(of().shop.address, COIN);
    await devnet().mine(9);
    assert.deepEqual(await of().shop.balance(), { balance: COIN, unlocked: 0n });
    await devnet().mine(1);
    assert.deepEqual(await of().shop.balance(), { balance: COIN, unlocked: COIN });
  });

  test("confirmations are counted from the block on", async () => {
    const txid = await of().payer.pay(of().shop.address, COIN);
    const height = await devnet().mine(3);
    const transfer = await transferOf(of().shop, txid);
    assert.deepEqual([transfer.confirmations, transfer.height], [3, height - 3]);
  });

  test("one payment has several destinations", async () => {
    const { shop } = of();
    const { address } = await shop.call("create_address", { account_index: 0 });
    const destinations = [
      { address: shop.address, amount: 3n },
      { address: String(address), amount: 4n },
    ];
    await send({ destinations });
    await devnet().mine(1);
    assert.equal((await shop.balance()).balance, 7n);
  });

  test("a payment to a subaddress says which", async () => {
    const { address, address_index } = await of().shop.call("create_address", { account_index: 0 });
    const txid = await of().payer.pay(String(address), 5n);
    await devnet().mine(1);
    const transfer = await transferOf(of().shop, txid);
    assert.deepEqual(transfer.subaddr_index, { major: 0, minor: address_index });
    assert.equal(transfer.address, address);
  });

  test("a block can pay a subaddress", async () => {
    const { address } = await of().shop.call("create_address", { account_index: 0 });
    await devnet().fund({ [String(address)]: [5n], [of().shop.address]: [6n] });
    assert.deepEqual(await of().shop.balance(), { balance: 11n, unlocked: 11n });
  });
}

function testAddresses({ devnet, of, paying, send }: Shop): void {
  test("the label of an address is kept", async () => {
    await of().shop.call("create_address", { account_index: 0, label: "order 17" });
    const { addresses } = await of().shop.call("get_address", { account_index: 0, address_index: [1] });
    assert.equal(listOf(addresses)[0]?.label, "order 17");
  });

  test("a payment to an integrated address has its payment id", async () => {
    const { integrated_address, payment_id } = await of().shop.call("make_integrated_address", {});
    await of().payer.pay(String(integrated_address), 5n);
    await devnet().mine(1);
    await of().shop.balance();
    const { payments } = await of().shop.call("get_payments", { payment_id: payment_id ?? "" });
    assert.deepEqual(
      listOf(payments).map(({ amount }) => amount),
      [5],
    );
  });

  test("payments of several payment ids are listed together, from a height on", async () => {
    const { shop, payer } = of();
    const ids: string[] = [];
    for (const amount of [5n, 6n]) {
      const { integrated_address, payment_id } = await shop.call("make_integrated_address", {});
      ids.push(String(payment_id));
      await payer.pay(String(integrated_address), amount);
    }
    const height = await devnet().mine(1);
    await shop.balance();
    const asked = async (from: number) =>
      listOf((await shop.call("get_bulk_payments", { payment_ids: ids, min_block_height: from })).payments);
    const amounts = (await asked(0)).map(({ amount }) => Number(amount)).sort();
    assert.deepEqual(amounts, [5, 6]);
    assert.deepEqual(await asked(height), []);
  });

  test("a payment uri is read back", async () => {
    const { shop } = of();
    const params = { address: shop.address, amount: 5n, recipient_name: "shop" };
    const { uri } = await shop.call("make_uri", params);
    const { uri: read } = await of().payer.call("parse_uri", { uri: uri ?? "" });
    const { address, amount, recipient_name } = read as ExactObject;
    assert.deepEqual([address, amount, recipient_name], [shop.address, 5, "shop"]);
  });

  test("two payments in a row spend different outputs", async () => {
    const ids = [
      await of().payer.pay(of().shop.address, COIN),
      await of().payer.pay(of().shop.address, COIN),
    ];
    assert.notEqual(ids[0], ids[1]);
    await devnet().mine(10);
    assert.equal((await of().shop.balance()).unlocked, 2n * COIN);
  });

  test("a payment larger than any output takes several", async () => {
    await of().payer.pay(of().shop.address, 8n * COIN);
    await devnet().mine(10);
    assert.equal((await of().shop.balance()).unlocked, 8n * COIN);
  });

  test("more than there is can't be paid", async () => {
    await assert.rejects(send(paying(MONEY + COIN)), refusal(-17));
  });
}

function testLimits({ devnet, of, paying, send }: Shop): void {
  test("what is there but locked can't be paid yet", async () => {
    await of().payer.pay(of().shop.address, COIN);
    await assert.rejects(send(paying(MONEY - 2n * COIN)), (error) => error instanceof CallFailed);
    await devnet().mine(10);
    await send(paying(MONEY - 2n * COIN));
  });

  test("an address that is none is refused", async () => {
    await assert.rejects(send(paying(5n, "4nowhere")), refusal(-2));
  });

  test("a payment without destination is refused", async () => {
    await assert.rejects(send({ destinations: [] }), CallFailed);
  });

  test("everything is swept to one address", async () => {
    const { payer, shop } = of();
    await payer.balance();
    const { tx_hash_list, fee_list } = await payer.call("sweep_all", { address: shop.address });
    assert.equal((tx_hash_list as string[]).length, 1);
    await devnet().mine(10);
    assert.equal((await payer.balance()).balance, 0n);
    assert.equal((await shop.balance()).unlocked, MONEY - BigInt(String((fee_list as number[])[0])));
  });

  test("one output is swept by its key image", async () => {
    const { payer, shop } = of();
    await payer.balance();
    const { transfers } = await payer.call("incoming_transfers", { transfer_type: "available" });
    const [{ key_image, amount } = {}] = listOf(transfers);
    const { fee } = await payer.call("sweep_single", { address: shop.address, key_image: key_image ?? "" });
    await devnet().mine(1);
    assert.equal((await shop.balance()).balance, BigInt(String(amount)) - BigInt(String(fee)));
  });

  test("spent outputs are listed as such", async () => {
    const { payer } = of();
    await payer.pay(of().shop.address, COIN);
    await devnet().mine(1);
    await payer.balance();
    const countOf = async (transfer_type: string) =>
      listOf((await payer.call("incoming_transfers", { transfer_type })).transfers).length;
    assert.equal(await countOf("unavailable"), 1);
    assert.equal(await countOf("all"), OUTPUTS.length + 1);
  });
}

function testSweeps({ devnet, of, paying, send }: Shop): void {
  test("a payment can be signed now and sent later", async () => {
    const { payer, shop } = of();
    const { tx_metadata, tx_hash } = await send({
      ...paying(5n),
      do_not_relay: true,
      get_tx_metadata: true,
    });
    await devnet().mine(1);
    assert.equal((await shop.balance()).balance, 0n);
    const sent = await payer.call("relay_tx", { hex: tx_metadata ?? "" });
    assert.equal(sent.tx_hash, tx_hash);
    await devnet().mine(1);
    assert.equal((await shop.balance()).balance, 5n);
  });

  test("a split payment lists its transactions", async () => {
    await of().payer.balance();
    const { tx_hash_list, amount_list } = await of().payer.call("transfer_split", paying(9n * COIN));
    assert.ok((tx_hash_list as string[]).every((hash) => HASH.test(hash)));
    assert.equal(total((amount_list as number[]).map(BigInt)), 9n * COIN);
  });

  test("a higher priority costs more", async () => {
    const feeOf = async (priority: number) => {
      const { fee } = await send({ ...paying(5n), priority, do_not_relay: true });
      return BigInt(String(fee));
    };
    assert.ok((await feeOf(1)) < (await feeOf(3)));
  });

  test("a transaction key proves a payment", async () => {
    const { payer, shop } = of();
    const { tx_hash: txid = "", tx_key = "" } = await send({ ...paying(5n), get_tx_key: true });
    await devnet().mine(1);
    const { tx_key: same } = await payer.call("get_tx_key", { txid });
    assert.equal(same, tx_key);
    const checked = await shop.call("check_tx_key", { txid, tx_key, address: shop.address });
    assert.deepEqual([checked.received, checked.in_pool], [5, false]);
  });

  test("a payment proof is good for its message alone", async () => {
    const { payer, shop } = of();
    const txid = await payer.pay(shop.address, 5n);
    await devnet().mine(1);
    const { signature = "" } = await payer.call("get_tx_proof", {
      txid,
      address: shop.address,
      message: "17",
    });
    const check = (message: string) =>
      shop.call("check_tx_proof", { txid, address: shop.address, message, signature });
    assert.equal((await check("17")).good, true);
    assert.equal((await check("18")).good, false);
  });

  test("a reserve proof says what a wallet has", async () => {
    const { payer, shop } = of();
    await payer.balance();
    const { signature = "" } = await payer.call("get_reserve_proof", { all: true, message: "" });
    const checked = await shop.call("check_reserve_proof", {
      address: payer.address,
      message: "",
      signature,
    });
    assert.deepEqual([checked.good, BigInt(String(checked.total))], [true, MONEY]);
  });
}

function testProofs({ devnet, of, paying }: Shop): void {
  test("a signature is good for its text and address", async () => {
    const { payer, shop } = of();
    const { signature = "" } = await payer.call("sign", { data: "text" });
    const check = (data: string) => shop.call("verify", { data, address: payer.address, signature });
    assert.equal((await check("text")).good, true);
    assert.equal((await check("other")).good, false);
  });

  test("notes of a transaction are kept", async () => {
    const txid = await of().payer.pay(of().shop.address, 5n);
    await of().payer.call("set_tx_notes", { txids: [txid], notes: ["paid"] });
    assert.deepEqual((await of().payer.call("get_tx_notes", { txids: [txid] })).notes, ["paid"]);
  });

  test("a second account has money of its own", async () => {
    const { shop, payer } = of();
    const { account_index, address } = await shop.call("create_account", { label: "till" });
    await payer.pay(String(address), COIN);
    await devnet().mine(10);
    assert.equal((await shop.balance()).balance, 0n);
    const { unlocked_balance } = await shop.call("get_balance", { account_index: account_index ?? 1 });
    assert.equal(BigInt(String(unlocked_balance)), COIN);
    await shop.call("transfer", { ...paying(5n, payer.address), account_index: account_index ?? 1 });
  });

  test("transfers are listed from a height on", async () => {
    const { shop, payer } = of();
    await payer.pay(shop.address, 5n);
    const height = await devnet().mine(1);
    await payer.pay(shop.address, 6n);
    await devnet().mine(1);
    await shop.balance();
    const { in: found } = await shop.call("get_transfers", {
      in: true,
      filter_by_height: true,
      min_height: height - 1,
    });
    assert.deepEqual(
      listOf(found).map(({ amount }) => amount),
      [6],
    );
  });

  test("mined coins arrive locked", async () => {
    await devnet().mine(1, "shop");
    const { balance, unlocked } = await of().shop.balance();
    assert.ok(balance > 0n);
    assert.equal(unlocked, 0n);
    const [transfer] = await transfersOf(of().shop, "in");
    assert.deepEqual([transfer?.confirmations, transfer?.locked], [1, true]);
  });
}

function testLists({ devnet, of, paying, send }: Shop): void {
  test("funded outputs can be spent at once", async () => {
    await devnet().fund({ shop: [COIN, 7n] });
    assert.deepEqual(await of().shop.balance(), { balance: COIN + 7n, unlocked: COIN + 7n });
    await of().shop.pay(of().payer.address, 5n);
  });

  test("a reorganisation returns a payment to the pool, from where it is mined again", async () => {
    // The original's wallet passes over a payment in the pool that it has seen there before, once a block has had it.
    // Source: wallet2.cpp `update_pool_state`, m_scanned_pool_txs.
    await of().shop.call("auto_refresh", { enable: false });
    const txid = await of().payer.pay(of().shop.address, 5n);
    await devnet().mine(2);
    assert.equal((await transferOf(of().shop, txid)).type, "in");
    await devnet().reorg(2);
    assert.equal((await transferOf(of().shop, txid)).type, "pool");
    await devnet().mine(1);
    assert.equal((await transferOf(of().shop, txid)).type, "in");
  });

  test("a reorganisation may mine the payment again at once", async () => {
    const txid = await of().payer.pay(of().shop.address, 5n);
    await devnet().mine(2);
    await devnet().reorg(2, { payments: "mined" });
    assert.equal((await transferOf(of().shop, txid)).type, "in");
  });

  test("nothing is paid while the node is away, and all goes on once it is back", async () => {
    const fault = devnet().faults.begin({ at: "node", kind: "away" });
    await assert.rejects(send(paying(5n)));
    fault.end();
    for (const wallet of Object.values(of())) await reconnect(wallet);
    await of().payer.pay(of().shop.address, 5n);
    await devnet().mine(1);
    assert.equal((await of().shop.balance()).balance, 5n);
  });
}

function testChain({ devnet, of }: Shop): void {
  test("the node knows the payment by its id", async () => {
    const txid = await of().payer.pay(of().shop.address, 5n);
    const { nodeUrl } = devnet();
    assert.equal((await call(nodeUrl, "get_info")).tx_pool_size, 1);
    await devnet().mine(1);
    const { block_header } = await call(nodeUrl, "get_last_block_header");
    const { hash, num_txes } = block_header as ExactObject;
    assert.equal(num_txes, 1);
    const block = await call(nodeUrl, "get_block", { hash: hash ?? "" });
    assert.deepEqual(block.tx_hashes, [txid]);
  });
}
