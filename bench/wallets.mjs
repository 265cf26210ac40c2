// Both wallet services with alice's wallet of the 500-block chain (1,501 outputs), at one monerod.
import { call, loadBlocks, loadChain, post, startDaemon, startWallet } from "@anulo/testkit";

export const sides = { native: { kind: "real" }, ours: { kind: "ours", dialect: "upstream" } };

let staged;

/** Both services at a node, with alice's wallet open; `extra`: further flags of both. */
export async function startWallets(node, { alice, extra = [] }) {
  const wallets = {};
  const stop = async () => {
    for (const wallet of Object.values(wallets)) await wallet.stop();
  };
  try {
    for (const side of ["native", "ours"]) {
      wallets[side] = await startWallet(sides[side], { daemonPort: node.port, extra });
      await restore(wallets[side].url, alice);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { wallets, stop };
}

async function start() {
  const chain = loadChain();
  const { alice, bob } = chain.wallets;
  const node = await startDaemon({ kind: "real" });
  try {
    await loadBlocks(node.url, chain.blocks);
    const { wallets, stop } = await startWallets(node, { alice, extra: ["--max-concurrency", "1"] });
    const stopAll = () => stop().then(() => node.stop());
    return { node, wallets, alice, bob, stop: stopAll };
  } catch (error) {
    await node.stop();
    throw error;
  }
}

/** Opens a wallet by its words, scanned, and left alone from then on. */
export async function restore(url, { mnemonic }) {
  await call(url, "restore_deterministic_wallet", {
    filename: "alice",
    password: "",
    seed: mnemonic,
    restore_height: 0,
    language: "English",
  });
  await call(url, "auto_refresh", { enable: false });
  await call(url, "refresh");
}

/** The stage that the parts about wallets share; started once. */
export function stage() {
  staged ??= start();
  return staged;
}

/** Ends the stage, if there is one. */
export async function endStage() {
  const running = await staged?.catch(() => undefined);
  staged = undefined;
  await running?.stop();
}

/** The node forgets what waits, so that the other wallet may spend the same. */
export async function emptyPool({ node }) {
  await post(`${node.url}/json_rpc`, { jsonrpc: "2.0", id: "0", method: "flush_txpool", params: {} });
}
