import assert from "node:assert/strict";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { call, type Exact, type ExactObject } from "@anulo/testkit";
import {
  bigintOf,
  listOf,
  mine,
  needsRealPrograms,
  onStage,
  otherSide,
  type Side,
  type Stage,
  type WalletActor,
} from "../actors.ts";
import { type Ask, exchange, openPair, type Pair } from "./cold-pair.ts";
import { words } from "./words.ts";

const ACCOUNTS = 3;

/** Accounts with two addresses each, known by all who are asked; answers the addresses of each account. */
async function makeAccounts(wallets: readonly Ask[]): Promise<string[][]> {
  const known: string[][][] = [];
  for (const ask of wallets) {
    const accounts: string[][] = [];
    for (let account_index = 0; account_index < ACCOUNTS; account_index++) {
      if (account_index > 0) await ask("create_account");
      await ask("create_address", { account_index });
      const { addresses } = await ask("get_address", { account_index });
      accounts.push(listOf(addresses).map(({ address }) => String(address)));
    }
    known.push(accounts);
  }
  const [first, ...others] = known as [string[][], ...string[][][]];
  for (const other of others) assert.deepEqual(other, first);
  return first;
}

async function accountsOf(ask: Ask): Promise<unknown> {
  await ask("refresh");
  const { subaddress_accounts } = await ask("get_accounts");
  return listOf(subaddress_accounts).map(({ balance, unlocked_balance }) => [balance, unlocked_balance]);
}

/** A description whose recipients stand in the order of their addresses: the programs keep them in orders of their own. */
function sorted(described: ExactObject): Exact {
  const byAddress = (each: ExactObject) => ({
    ...each,
    recipients: listOf(each.recipients).toSorted((a, b) =>
      `${a.address} ${a.amount}` < `${b.address} ${b.amount}` ? -1 : 1,
    ),
  });
  return {
    desc: listOf(described.desc).map(byAddress),
    summary: byAddress(described.summary as ExactObject),
  };
}

async function tellOutputs(from: Ask, to: Ask): Promise<void> {
  const { outputs_data_hex } = await from("export_outputs", { all: true });
  await to("import_outputs", { outputs_data_hex: outputs_data_hex! });
}

type Cast = Pair & { readonly twin: Ask; readonly stranger: Ask };

/** Both programs describe a set alike, one signs it, the other can't without its keys; returns the ids sent. */
async function tellSignSend({ hot, cold, twin, stranger }: Cast, made: ExactObject) {
  const unsigned_txset = made.unsigned_txset!;
  const told = await cold("describe_transfer", { unsigned_txset });
  assert.deepEqual(sorted(told), sorted(await twin("describe_transfer", { unsigned_txset })));
  for (const method of ["describe_transfer", "sign_transfer"])
    await assert.rejects(stranger(method, { unsigned_txset }), `a stranger: ${method}`);
  const signed = await cold("sign_transfer", { unsigned_txset, get_tx_keys: true });
  const tx_data_hex = signed.signed_txset!;
  await assert.rejects(stranger("submit_transfer", { tx_data_hex }));
  const { tx_hash_list } = await hot("submit_transfer", { tx_data_hex });
  assert.deepEqual(tx_hash_list, signed.tx_hash_list);
  return { txids: listOf(tx_hash_list).map(String), told, keys: listOf(signed.tx_key_list).map(String) };
}

async function prepare(stage: Stage, sides: { readonly hot: Side; readonly cold: Side }) {
  const daemon = await stage.daemon("ours", "upstream");
  const witness = await stage.wallet("ours", { mnemonic: words.alice, daemonPort: daemon.port });
  const bob = await stage.wallet("ours", { mnemonic: words.bob, daemonPort: daemon.port });
  const pair = await openPair(stage, sides, daemon.port);
  const { url } = await stage.service(otherSide[sides.cold]);
  const twin: Ask = (method, params = {}) => call(url, method, params);
  const names = { filename: "twin", password: "", restore_height: 0 };
  await twin("restore_deterministic_wallet", { ...names, seed: words.alice });
  const { address: subaddress } = await bob.call("create_address", { account_index: 0 });
  const cast: Cast = { ...pair, twin, stranger: bob.call };

  const addresses = (await makeAccounts([witness.call, pair.hot, pair.cold, twin])).flat();
  await mine(daemon, 90, witness.address);
  for (const amount of [3n, 4n]) {
    await witness.refresh();
    await witness.pay(addresses.slice(1).map((address) => ({ address, amount: amount * coin })));
    await mine(daemon, 12, bob.address);
  }
  await pair.hot("refresh");
  await tellOutputs(pair.hot, twin);
  return { daemon, witness, bob, cast, pair, addresses, subaddress: String(subaddress) };
}

/** What a description says leaves the wallet with these addresses. */
function outsideOf(told: ExactObject, addresses: readonly string[]): bigint {
  return listOf((told.summary as ExactObject).recipients)
    .filter(({ address }) => !addresses.includes(String(address)))
    .reduce((sum, { amount }) => sum + bigintOf(amount), 0n);
}

async function receivedOf(bob: WalletActor, txids: readonly string[]): Promise<bigint> {
  await bob.refresh();
  let received = 0n;
  for (const txid of txids) {
    const found = await bob.call("get_transfer_by_txid", { txid }).catch(() => ({ transfers: [] }));
    for (const { amount } of listOf(found.transfers)) received += bigintOf(amount);
  }
  return received;
}

for (const sides of [
  { hot: "ours", cold: "real" },
  { hot: "real", cold: "ours" },
] as const satisfies { hot: Side; cold: Side }[]) {
  test(
    `sets of several accounts and transactions: prepared by ${sides.hot}, signed by ${sides.cold}, told alike by both`,
    needsRealPrograms,
    async (t) => {
      await onStage(async (stage) => {
        const { daemon, witness, bob, cast, pair, addresses, subaddress } = await prepare(stage, sides);
        const { twin } = cast;
        const first = await exchange(pair, true);
        const agree = async () =>
          assert.deepEqual(await accountsOf(pair.hot), await accountsOf(witness.call));
        await agree();

        const many = Array.from({ length: 20 }, (_, at) => ({
          address: [bob.address, subaddress, addresses[3]!][at % 3]!,
          amount: coin + BigInt(at),
        }));
        const { integrated_address } = await bob.call("make_integrated_address", {
          payment_id: "0123456789abcdef",
        });
        const whole = { address: subaddress, subaddr_indices_all: true };
        const orders: readonly (readonly [string, ExactObject, number])[] = [
          ["transfer_split", { destinations: many, get_tx_keys: true }, 2],
          [
            "transfer",
            {
              account_index: 1,
              subaddr_indices: [0, 1],
              destinations: [{ address: String(integrated_address), amount: 8n * coin }],
            },
            1,
          ],
          ["sweep_all", { ...whole, account_index: 1 }, 1],
          ["sweep_all", { address: addresses[0]!, account_index: 2, subaddr_indices: [1] }, 1],
        ];
        let sent = 0;
        for (const [method, order, least] of orders) {
          const { txids, told, keys } = await tellSignSend(cast, await pair.hot(method, order));
          assert.ok(txids.length >= least && keys.length === txids.length, method);
          assert.equal(listOf(told.desc).length, txids.length);
          await mine(daemon, 12, bob.address);
          assert.equal(await receivedOf(bob, txids), outsideOf(told, addresses));
          await pair.hot("refresh");
          await tellOutputs(pair.hot, twin);
          // Only what is new goes over, and its key images come back with the place of the first.
          const { outputs_data_hex } = await pair.hot("export_outputs", { all: false });
          const count = await pair.cold("import_outputs", { outputs_data_hex: outputs_data_hex! });
          const { offset = 0, signed_key_images = [] } = await pair.cold("export_key_images", { all: false });
          assert.ok(bigintOf(count.num_imported) >= first);
          await pair.hot("import_key_images", { signed_key_images, offset });
          await agree();
          sent += txids.length;
        }
        const single = await pair.hot("incoming_transfers", { transfer_type: "available" });
        const { key_image } = listOf(single.transfers).find(({ unlocked }) => unlocked)!;
        const swept = await pair.hot("sweep_single", { address: bob.address, key_image: key_image! });
        const { txids } = await tellSignSend(cast, swept);
        await mine(daemon, 12, bob.address);
        await agree();
        t.diagnostic(`${sent + txids.length} transactions in ${orders.length + 1} sets`);
      });
    },
  );
}
