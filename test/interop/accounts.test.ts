import assert from "node:assert/strict";
import {
  call,
  type Exact,
  type ExactObject,
  isExactObject,
  loadGoldenState,
  type Maker,
} from "@anulo/testkit";
import { daemon, interop, ours, real, wallet } from "./programs.ts";
import { mine, pay, restore } from "./steps.ts";

const { a: alice, b: bob } = loadGoldenState().wallets;
const accounts = 3;
/** The documents call a mining reward `in`, the original program `block`: here they must agree. */
const upstream: Maker = { kind: "ours", dialect: "upstream" };
const addressesEach = 5;

/** Makes accounts and subaddresses, as a user would, and returns all addresses. */
async function makeAddresses(url: string): Promise<string[]> {
  const addresses: string[] = [];
  for (let account = 0; account < accounts; account++) {
    if (account > 0) await call(url, "create_account", { label: `account ${account}` });
    for (let at = 1; at < addressesEach; at++) {
      await call(url, "create_address", { account_index: account, label: `address ${at}` });
    }
    const listed = await call(url, "get_address", { account_index: account });
    addresses.push(...(listed.addresses as ExactObject[]).map(({ address }) => String(address)));
  }
  return addresses;
}

/** Everything a wallet tells of its transfers, in an order of its own, without labels. */
async function history(url: string): Promise<{ transfers: string[]; balances: Exact }> {
  await call(url, "refresh");
  const {
    in: incoming = [],
    out = [],
    pending = [],
    pool = [],
  } = await call(url, "get_transfers", {
    ...{ in: true, out: true, pending: true, pool: true },
    all_accounts: true,
  });
  const transfers = [incoming, out, pending, pool].flatMap((list) => list as ExactObject[]);
  const { per_subaddress } = await call(url, "get_balance", { all_accounts: true });
  const balances = (per_subaddress as ExactObject[]).map(({ label, time_to_unlock, ...rest }) => rest);
  return { transfers: transfers.map(canonical).sort(), balances };
}

/** Members that only the wallet that sent or labelled something can know are left out. */
const ownKnowledge = new Set(["destinations", "note", "timestamp"]);

function canonical(value: Exact): string {
  if (!isExactObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).filter(([name]) => !ownKnowledge.has(name));
  return JSON.stringify(Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1))));
}

interop("a wallet with 3 accounts of 5 addresses sees the same transfers in both programs", async () => {
  const node = await daemon(ours);
  await mine(node.url, 100, bob.address);
  const payer = await wallet(ours, { daemonPort: node.port });
  await restore(payer.url, "bob", bob.mnemonic);
  const first = await wallet(upstream, { daemonPort: node.port });
  const second = await wallet(real, { daemonPort: node.port });
  await restore(first.url, "alice", alice.mnemonic);
  await restore(second.url, "alice", alice.mnemonic);
  const addresses = await makeAddresses(first.url);
  assert.equal(addresses.length, accounts * addressesEach);
  assert.deepEqual(await makeAddresses(second.url), addresses);

  for (const [at, address] of addresses.entries()) {
    await pay(payer.url, address, 10n ** 12n + BigInt(at));
    await mine(node.url, 1, bob.address);
  }
  await mine(node.url, 10, alice.address);
  await pay(first.url, bob.address, 300_000_000_000n);
  await mine(node.url, 1, bob.address);
  const [mineToo, theirs] = [await history(first.url), await history(second.url)];
  assert.ok(theirs.transfers.length >= addresses.length + 11);
  assert.deepEqual(mineToo, theirs);
});
