// What the wallet services take for long work on a wallet of 1,501 outputs, both at the same monerod.
import { call } from "@anulo/testkit";
import { costRows, costsOf } from "./cost.mjs";
import { emptyPool, stage } from "./wallets.mjs";

const MAX_DESTINATIONS = 15;
const MILLI = 10 ** 9;
const ADDRESSES = 10_000;
const ADDRESSES_PER_CALL = 64;

/** `pay` with the same destination so many times over. */
function transferTo(address, count) {
  const destinations = Array.from({ length: count }, (_, i) => ({ address, amount: (10 + i) * MILLI }));
  return (url) => call(url, "transfer", { destinations, get_tx_key: true });
}

async function measurePayments(shared, rounds, count) {
  const { wallets, bob } = shared;
  const pay = transferTo(bob.address, count);
  return await costsOf(wallets, rounds, async (side) => {
    await pay(wallets[side].url);
    await emptyPool(shared);
  });
}

/** Open once the wallet knows its balance and `address`: the last it has, or recognises at all. */
async function measureOpening({ wallets }, rounds, address) {
  const ask = (side, method, params) => call(wallets[side].url, method, params);
  const file = { filename: "alice", password: "" };
  return await costsOf(
    wallets,
    rounds,
    async (side) => {
      await ask(side, "open_wallet", file);
      await ask(side, "get_balance", { account_index: 0 });
      await ask(side, "get_address_index", { address });
      await ask(side, "auto_refresh", { enable: false });
    },
    (side) => ask(side, "close_wallet"),
  );
}

/** Makes addresses until there are so many; the last of them. */
async function addAddresses({ wallets }, most) {
  let last = "";
  for (const { url } of Object.values(wallets)) {
    const { addresses } = await call(url, "get_address", { account_index: 0 });
    for (let have = addresses.length; have < most; have += ADDRESSES_PER_CALL) {
      const count = Math.min(ADDRESSES_PER_CALL, most - have);
      const made = await call(url, "create_address", { account_index: 0, count });
      last = made.addresses.at(-1);
    }
  }
  return last;
}

/** Rows of the table, with the limits of the wallet service's acceptance. */
export async function measure() {
  const shared = await stage();
  const { wallets, alice, bob } = shared;
  const ask = (method, params) => (side) => call(wallets[side].url, method, params);
  const everything = { all: true, account_index: 0, amount: 0, message: "" };
  const images = await costsOf(wallets, 2, ask("export_key_images", { all: true }));
  const reserve = await costsOf(wallets, 2, ask("get_reserve_proof", everything));
  const one = await measurePayments(shared, 8, 1);
  const many = await measurePayments(shared, 4, MAX_DESTINATIONS);
  const sweep = await costsOf(
    wallets,
    1,
    ask("sweep_all", { address: bob.address, do_not_relay: true, subaddr_indices_all: true }),
  );
  const rescan = await costsOf(wallets, 3, ask("rescan_blockchain", { hard: true }));
  const opening = await measureOpening(shared, 5, alice.address);
  const openingMany = await measureOpening(shared, 5, await addAddresses(shared, ADDRESSES));
  return [
    ...costRows("full rescan of 500 blocks, one worker", rescan, { wall: 0.6, cpu: 0.45 }),
    ...costRows("open a scanned wallet (10,000 subaddresses looked for)", opening, { wall: 0.3, cpu: 0.3 }),
    ...costRows("open a scanned wallet with 10,000 subaddresses", openingMany, { wall: 0.3, cpu: 0.3 }),
    ...costRows("transfer, 1 destination", one, { wall: 0.5, cpu: 1 }),
    ...costRows("transfer, 15 destinations", many, { wall: 0.6 }),
    ...costRows("sweep of all outputs", sweep, { wall: 0.5 }),
    ...costRows("get_reserve_proof of all outputs", reserve, { wall: 0.4 }),
    ...costRows("export_key_images, 1,501", images, { wall: 0.4 }),
  ];
}
