// How long proofs take to make and to check, both wallet services at the same monerod.
import { call } from "@anulo/testkit";
import { costsOf } from "./cost.mjs";
import { emptyPool, stage } from "./wallets.mjs";

const rounds = 5;
const MILLI = 10 ** 9;
const COIN = 10 ** 12;

/** A payment to bob by each wallet, from addresses of its own, waiting in the pool: what the proofs are about. */
async function payments({ wallets, bob }) {
  const { per_subaddress } = await call(wallets.native.url, "get_balance", { account_index: 0 });
  const richest = [...per_subaddress].sort((a, b) => Number(b.unlocked_balance) - Number(a.unlocked_balance));
  const paid = {};
  for (const [i, side] of ["native", "ours"].entries()) {
    const { tx_hash: txid, tx_key } = await call(wallets[side].url, "transfer", {
      destinations: [{ address: bob.address, amount: 10 * MILLI }],
      account_index: 0,
      subaddr_indices: [Number(richest[i].address_index)],
      get_tx_key: true,
    });
    paid[side] = { txid, tx_key };
  }
  return paid;
}

export async function measure() {
  const shared = await stage();
  const { wallets, bob, alice } = shared;
  const paid = await payments(shared);
  const made = { native: {}, ours: {} };
  const rows = [];
  const message = "";
  const time = async (name, paramsOf, { keep = () => {}, atMost = 0.3 } = {}) => {
    const { wall } = await costsOf(wallets, rounds, async (side) =>
      keep(side, await call(wallets[side].url, name.split(",")[0], paramsOf(paid[side], made[side]))),
    );
    rows.push({ name, unit: "ms", ...wall, ...(atMost > 0 && { atMost }) });
  };
  const keepAs = (name) => ({
    keep: (side, answer) => {
      made[side][name] = answer.signature;
    },
  });
  const { address } = bob;
  // Nobody is asked for it: both take as long as the question does.
  await time("get_tx_key", ({ txid }) => ({ txid }), { atMost: 0 });
  await time("check_tx_key", ({ txid, tx_key }) => ({ txid, tx_key, address }));
  await time("get_tx_proof", ({ txid }) => ({ txid, address, message }), keepAs("tx"));
  await time("check_tx_proof", ({ txid }, { tx: signature }) => ({ txid, address, message, signature }));
  await time("get_spend_proof", ({ txid }) => ({ txid, message }), keepAs("spend"));
  await time("check_spend_proof", ({ txid }, { spend: signature }) => ({ txid, message, signature }));
  const some = { all: false, account_index: 0, amount: 100 * COIN, message };
  const all = { ...some, all: true };
  const check = (_, { reserve: signature }) => ({ address: alice.address, message, signature });
  await time("get_reserve_proof, 100 XMR", () => some, { ...keepAs("reserve"), atMost: 0 });
  await time("check_reserve_proof, 100 XMR", check);
  await time("get_reserve_proof, all", () => all, { ...keepAs("reserve"), atMost: 0.4 });
  await time("check_reserve_proof, all", check, { atMost: 1 });
  await emptyPool(shared);
  return rows;
}
