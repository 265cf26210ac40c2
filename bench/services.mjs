// Our node and wallet service against monerod and monero-wallet-rpc, over RPC as a user would.
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { call, loadGoldenState, startDaemon, startWallet } from "@anulo/testkit";
import { median, timed } from "./timing.mjs";

const { a: alice, b: bob } = loadGoldenState().wallets;
const sides = { ours: { kind: "ours" }, native: { kind: "real" } };

/** Blocks mined in one timed call: the faster program needs more of them to be measured. */
const batch = { ours: 400, native: 40 };
const rounds = 3;
const transfers = 12;

const mine = (url, blocks) =>
  call(url, "generateblocks", { amount_of_blocks: blocks, wallet_address: alice.address });

async function onBoth(start) {
  return { ours: await start(sides.ours), native: await start(sides.native) };
}

/** Blocks per second of one call that mines many, best of the rounds. */
async function mineBlocks() {
  const nodes = await onBoth(startDaemon);
  const best = { ours: 0, native: 0 };
  try {
    // The first block pays for caches.
    for (const side of ["ours", "native"]) await mine(nodes[side].url, 2);
    for (let round = 0; round < rounds; round++) {
      for (const side of ["native", "ours"]) {
        const seconds = await timed(() => mine(nodes[side].url, batch[side]));
        best[side] = Math.max(best[side], batch[side] / seconds);
      }
    }
  } finally {
    for (const node of Object.values(nodes)) await node.stop();
  }
  return best;
}

/** A node with spendable coins and a wallet service on it. */
async function openPayer(maker) {
  const node = await startDaemon(maker);
  await mine(node.url, 120);
  const wallet = await startWallet(maker, { daemonPort: node.port });
  await call(wallet.url, "restore_deterministic_wallet", {
    filename: "alice",
    password: "",
    seed: alice.mnemonic,
    restore_height: 0,
    language: "English",
  });
  await call(wallet.url, "auto_refresh", { enable: false });
  await call(wallet.url, "refresh");
  return {
    pay: () =>
      call(wallet.url, "transfer", { destinations: [{ address: bob.address, amount: Number(coin) }] }),
    stop: async () => {
      await wallet.stop();
      await node.stop();
    },
  };
}

/** Milliseconds of a transfer to one destination, signed and relayed: the median, turn by turn. */
async function transferOnce() {
  const payers = await onBoth(openPayer);
  const times = { ours: [], native: [] };
  try {
    for (let round = 0; round < transfers; round++) {
      for (const side of ["native", "ours"]) times[side].push(1000 * (await timed(payers[side].pay)));
    }
  } finally {
    for (const payer of Object.values(payers)) await payer.stop();
  }
  return { ours: median(times.ours), native: median(times.native) };
}

/** The rows of the table: `ratio` is ours to native, and must be at least or at most `limit`. */
export async function measure() {
  const blocks = await mineBlocks();
  const transfer = await transferOnce();
  return [
    { name: "generateblocks, difficulty 1", unit: "blocks/s", ...blocks, atLeast: 20 },
    { name: "transfer, 1 destination, relayed", unit: "ms", ...transfer, atMost: 0.6 },
  ];
}
