// Both wallet services with alice's wallet of the 500-block chain (1,501 outputs), at one monerod.
import { call, loadBlocks, loadChain, post, startDaemon, startWallet } from "@anulo/testkit";

export const sides = { native: { kind: "real" }, ours: { kind: "ours", dialect: "upstream" } };

let staged;

async function start() {
  const chain = loadChain();
  const { alice, bob } = chain.wallets;
  const node = await startDaemon({ kind: "real" });
  const wallets = {};
  const stop = async () => {
    for (const wallet of Object.values(wallets)) await wallet.stop();
    await node.stop();
  };
  try {
    await loadBlocks(node.url, chain.blocks);
    for (const side of ["native", "ours"]) {
      wallets[side] = await startWallet(sides[side], {
        daemonPort: node.port,
        extra: ["--max-concurrency", "1"],
      });
      await restore(wallets[side].url, alice);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { node, wallets, alice, bob, stop };
}

/** Opens a wallet by its words, scanned, and left alone from then on. */
export async function restore(url, { mnemonic }) {
  await call(url, "restore_deterministic_wallet", {
    ...{ filename: "alice", password: "", seed: mnemonic, restore_height: 0, language: "English" },
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
