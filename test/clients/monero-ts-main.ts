/**
 * The whole walk against running programs, as a process of its own: monero-ts keeps one alive for minutes. Its order
 * stands in the first argument, as JSON.
 */
import assert from "node:assert/strict";
import moneroTs, { type MoneroWalletRpc } from "monero-ts";
import { walkNode } from "./monero-ts-node.ts";
import { walkColdSigning, walkMultisig } from "./monero-ts-signers.ts";
import {
  type Scene,
  walkAccounts,
  walkAddresses,
  walkHistory,
  walkOutputs,
  walkProofs,
  walkTransfers,
} from "./monero-ts-walk.ts";

export type Order = {
  readonly node: string;
  /** Wallet services: a funded wallet, another, one that watches, two signers, one that knows no node. */
  readonly services: readonly string[];
  readonly login: { readonly username: string; readonly password: string };
  readonly seeds: readonly [hot: string, other: string];
  readonly miner: string;
  /** How ours answer where the documents and the original differ. */
  readonly dialect: "upstream" | "contract";
};

/** Enough for rings of unlocked outputs, all but one of others. */
const FIRST_BLOCKS = 80;

async function raise(order: Order, [hot, other]: readonly MoneroWalletRpc[]): Promise<Scene> {
  const daemon = await moneroTs.connectToDaemonRpc(order.node);
  const connection = await daemon.getRpcConnection();
  const mine = async (amount_of_blocks: number) => {
    await connection.sendJsonRequest("generateblocks", { amount_of_blocks, wallet_address: order.miner });
  };
  await mine(FIRST_BLOCKS);
  const [seed, otherSeed] = order.seeds;
  await hot!.createWallet({ path: "hot", password: "", seed, restoreHeight: 0 });
  await other!.createWallet({ path: "other", password: "", seed: otherSeed, restoreHeight: 0 });
  await Promise.all([hot!.sync(), other!.sync()]);
  return { daemon, hot: hot!, other: other!, mine };
}

async function walk(order: Order): Promise<void> {
  const wallets = await Promise.all(
    order.services.map((uri) => moneroTs.connectToWalletRpc({ uri, ...order.login })),
  );
  const scene = await raise(order, wallets);
  await walkAccounts(scene);
  await walkAddresses(scene);
  const tx = await walkTransfers(scene);
  await walkProofs(scene, tx);
  await walkOutputs(scene);
  // By the documents a mining reward is an incoming payment like any other (difference S3).
  await walkHistory(scene, order.dialect === "upstream");
  await walkColdSigning(scene, { watching: wallets[2]!, cold: wallets[5]!, dialect: order.dialect });
  await walkNode(scene.daemon, tx.getHash());
  await walkMultisig(scene, [wallets[3]!, wallets[4]!]);
  assert.ok(await scene.hot.isConnectedToDaemon());
  assert.ok((await scene.hot.getDefaultFeePriority()) >= 0);
}

await walk(JSON.parse(process.argv[2]!) as Order);
process.exit(0);
