import assert from "node:assert/strict";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import type { ExactObject } from "@anulo/testkit";
import { accountOf } from "../account.ts";
import { type Destination, listOf, mine, needsRealPrograms, onStage, type WalletActor } from "../actors.ts";
import { words } from "./words.ts";

const accounts = 3;
const addressesEach = 5;

/** Makes accounts and subaddresses up to 3 × 5 and returns all addresses, in order. */
async function makeAddresses(wallet: WalletActor): Promise<string[]> {
  const addresses: string[] = [];
  for (let account = 0; account < accounts; account++) {
    if (account > 0) await wallet.call("create_account", { label: `account ${account}` });
    await wallet.call("create_address", { account_index: account, count: addressesEach - 1 });
    const known = await wallet.call("get_address", { account_index: account });
    addresses.push(...listOf(known.addresses).map(({ address }) => String(address)));
  }
  return addresses;
}

test(
  "3 accounts of 5 subaddresses hold the same transfers in both wallet programs",
  needsRealPrograms,
  async (t) => {
    await onStage(async (stage) => {
      const daemon = await stage.daemon("ours");
      const open = { daemonPort: daemon.port };
      const payer = await stage.wallet("ours", { ...open, mnemonic: words.bob });
      const holder = await stage.wallet("ours", { ...open, mnemonic: words.alice });
      const addresses = await makeAddresses(holder);
      assert.equal(new Set(addresses).size, accounts * addressesEach);
      const pay = async (destinations: readonly Destination[]) => {
        await payer.refresh();
        await payer.pay(destinations);
        await mine(daemon, 1, payer.address);
      };
      await mine(daemon, 80, payer.address);
      // Eight in one transaction, seven in another, then some of them again one by one.
      await pay(addresses.slice(0, 8).map((address, at) => ({ address, amount: coin + BigInt(at) })));
      await pay(addresses.slice(8).map((address, at) => ({ address, amount: 2n * coin + BigInt(at) })));
      for (const at of [0, 7, 14]) await pay([{ address: addresses[at]!, amount: 3n * coin }]);
      await mine(daemon, 3, addresses[0]!);
      await mine(daemon, 10, payer.address);

      await holder.refresh();
      const back = [{ address: payer.address, amount: coin / 3n }];
      await holder.pay(back, { account_index: 1 });
      await holder.pay([{ address: addresses[3]!, amount: coin / 5n }], {
        account_index: 2,
        subaddr_indices: [2, 4],
      });
      await holder.call("sweep_all", { address: addresses[11]!, account_index: 0, subaddr_indices: [1, 2] });
      await mine(daemon, 12, payer.address);
      await payer.refresh();
      await payer.pay([{ address: addresses[6]!, amount: 5n }]);

      const [own, original] = await Promise.all(
        (["ours", "real"] as const).map(async (side) => {
          const wallet = await stage.wallet(side, { ...open, mnemonic: words.alice });
          await wallet.refresh();
          assert.deepEqual(await makeKnown(wallet), addresses);
          return wallet;
        }),
      );
      const [ownAccount, originalAccount] = [await accountOf(own!), await accountOf(original!)];
      assert.deepEqual(ownAccount, originalAccount);
      const seen = listOf((ownAccount.transfers as ExactObject).in).length;
      t.diagnostic(`${seen} incoming transfers, the same in both`);
      assert.ok(seen >= 18);
    });
  },
);

/** A restored wallet knows the addresses it has found payments to; this makes the others known too. */
async function makeKnown(wallet: WalletActor): Promise<string[]> {
  const { subaddress_accounts } = await wallet.call("get_accounts");
  for (let at = listOf(subaddress_accounts).length; at < accounts; at++) await wallet.call("create_account");
  const addresses: string[] = [];
  for (let account = 0; account < accounts; account++) {
    const find = async () => listOf((await wallet.call("get_address", { account_index: account })).addresses);
    const missing = addressesEach - (await find()).length;
    if (missing > 0) await wallet.call("create_address", { account_index: account, count: missing });
    addresses.push(...(await find()).map(({ address }) => String(address)));
  }
  return addresses;
}
