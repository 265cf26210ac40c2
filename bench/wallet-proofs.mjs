// How long proofs take to make and to check: both wallet services at the same monerod, with as many threads as they
// take of themselves, asked over one connection each, as a client that stays does.
import { call, RawConnection } from "@anulo/testkit";
import { median, timed } from "./timing.mjs";
import { emptyPool, stage, startWallets } from "./wallets.mjs";

const rounds = 5;
/** Of what takes a millisecond or two. */
const manyRounds = 300;
/** Not counted: what they show then are services that have been up for a while, compilers of theirs included. */
const roundsBefore = 1000;
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

/** Asks a method and gives its result. */
async function ask(connection, method, params) {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: "0", method, params }));
  const headers = { "Content-Type": "application/json" };
  const answer = await connection.exchange({ method: "POST", path: "/json_rpc", headers, body });
  const { result, error } = JSON.parse(answer.body.toString());
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}

/** Asks both in turn; what they made is there for later questions. */
function meterOf(wallets, paid) {
  const open = (side) => new RawConnection(wallets[side].url);
  const connections = { native: open("native"), ours: open("ours") };
  const made = { native: {}, ours: {} };
  const rows = [];
  const time = async (name, paramsOf, { keep = () => {}, atMost = 0.3, times = rounds, before = 0 } = {}) => {
    const took = { native: [], ours: [] };
    for (let round = -before; round < times; round++) {
      for (const side of ["native", "ours"]) {
        const params = paramsOf(paid[side], made[side]);
        const task = async () => keep(side, await ask(connections[side], name.split(",")[0], params));
        const ms = 1000 * (await timed(task));
        if (round >= 0) took[side].push(ms);
      }
    }
    const [ours, native] = [median(took.ours), median(took.native)];
    rows.push({ name, unit: "ms", ours, native, ...(atMost > 0 && { atMost }) });
  };
  const keepAs = (name) => ({
    keep: (side, answer) => {
      made[side][name] = answer.signature;
    },
  });
  const close = () => {
    for (const connection of Object.values(connections)) connection.close();
  };
  return { rows, time, keepAs, close };
}

async function rowsOf({ wallets, alice, bob }) {
  const { rows, time, keepAs, close } = meterOf(wallets, await payments({ wallets, bob }));
  const message = "";
  const good = {
    keep: (side, answer) => {
      if (!answer.good) throw new Error(`a proof made by ${side} is not good`);
    },
  };
  const first = { times: manyRounds, atMost: 0 };
  const quick = { times: manyRounds, before: roundsBefore };
  const { address } = bob;
  // Nobody is asked and nothing computed: both take as long as a question does, as the first row shows.
  await time("get_version", () => ({}), { ...quick, atMost: 0 });
  await time("get_tx_key", ({ txid }) => ({ txid }), { ...quick, atMost: 0 });
  await time("check_tx_key", ({ txid, tx_key }) => ({ txid, tx_key, address }));
  await time("get_tx_proof", ({ txid }) => ({ txid, address, message }), keepAs("tx"));
  await time(
    "check_tx_proof",
    ({ txid }, { tx: signature }) => ({ txid, address, message, signature }),
    good,
  );
  await time("get_spend_proof", ({ txid }) => ({ txid, message }), keepAs("spend"));
  await time("check_spend_proof", ({ txid }, { spend: signature }) => ({ txid, message, signature }), good);
  await time("sign", () => ({ data: "a text" }), { ...quick, ...keepAs("text"), atMost: 0 });
  const verify = { data: "a text", address: alice.address };
  await time("verify", (_, { text: signature }) => ({ ...verify, signature }), {
    ...quick,
    ...good,
    atMost: 0,
  });
  const some = { all: false, account_index: 0, amount: 100 * COIN, message };
  const all = { ...some, all: true };
  const check = (_, { reserve: signature }) => ({ address: alice.address, message, signature });
  await time("get_reserve_proof, 100 XMR, first 300", () => some, first);
  await time("get_reserve_proof, 100 XMR", () => some, { ...quick, ...keepAs("reserve") });
  await time("check_reserve_proof, 100 XMR", check, good);
  await time("get_reserve_proof, all", () => all, keepAs("reserve"));
  await time("check_reserve_proof, all", check, good);
  close();
  return rows;
}

export async function measure() {
  const { node, alice, bob } = await stage();
  const { wallets, stop } = await startWallets(node, { alice });
  try {
    return await rowsOf({ wallets, alice, bob });
  } finally {
    await stop();
    await emptyPool({ node });
  }
}
