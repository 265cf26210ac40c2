/** Snapshots of the original programs. */
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { CallFailed, call, post } from "./call.ts";
import type { ExactObject } from "./exact-json.ts";
import type { SavedState } from "./saved-state.ts";
import { allOrNone } from "./turns.ts";

/** A program that can be stopped and started again on its port with its folder. */
export type OwnProcess = {
  readonly url: string;
  readonly folder: string;
  start(): Promise<void>;
  stop(): Promise<void>;
};

export type OpenedWallet = OwnProcess & { readonly name: string };

type Originals = {
  readonly node: OwnProcess;
  readonly wallets: readonly OpenedWallet[];
  /** Of the devnet. */
  readonly folder: string;
  stopAll(): Promise<void>;
};

/** Where the node's chain was. */
type ChainState = {
  readonly height: number;
  readonly topHash: string;
  /** Number of branches beside it. */
  readonly branches: number;
  readonly waiting: number;
};

/** Copies all folders while the programs are stopped. */
export async function saveOriginals(originals: Originals): Promise<SavedState> {
  const { node, wallets, folder } = originals;
  const copy = await mkdtemp(join(folder, "saved-"));
  const all = [node, ...wallets].map((program, i) => ({ program, saved: join(copy, `${i}`) }));
  const chain = await chainOf(node.url);
  await whileStopped(originals, () =>
    allOrNone(all.map(({ program, saved }) => cp(program.folder, saved, { recursive: true }))),
  );
  const restoreStopped = () => whileStopped(originals, () => allOrNone(all.map(restoreFolder)));
  const restoreRunning = async (): Promise<boolean> => {
    await allOrNone(wallets.map(closeWallet));
    if (!(await popTo(node.url, chain))) return false;
    await allOrNone(all.slice(1).map(restoreFolder));
    await allOrNone(wallets.map(openWallet));
    return true;
  };
  return {
    restore: async () => {
      // A program that a test has stopped does not answer.
      if (!(await restoreRunning().catch(() => false))) await restoreStopped();
    },
    drop: () => rm(copy, { recursive: true, force: true }),
  };
}

/** Runs a task while no program runs; then each wallet is open as at the start. */
async function whileStopped(
  { node, wallets, stopAll }: Originals,
  task: () => Promise<unknown>,
): Promise<void> {
  await stopAll();
  try {
    await task();
  } finally {
    await node.start();
    await allOrNone(wallets.map((wallet) => wallet.start().then(() => openWallet(wallet))));
  }
}

async function chainOf(nodeUrl: string): Promise<ChainState> {
  const info = await call(nodeUrl, "get_info");
  return {
    height: Number(info.height),
    topHash: String(info.top_block_hash),
    branches: Number(info.alt_blocks_count),
    waiting: Number(info.tx_pool_size),
  };
}

/**
 * Removes the blocks above a state of the chain, and all that waits. Returns false where that does not lead there: the
 * chain forks below, or transactions waited.
 */
async function popTo(nodeUrl: string, saved: ChainState): Promise<boolean> {
  const now = await chainOf(nodeUrl);
  if (saved.waiting > 0 || now.branches !== saved.branches || now.height < saved.height) return false;
  const { block_header } = await call(nodeUrl, "get_block_header_by_height", { height: saved.height - 1 });
  if ((block_header as ExactObject).hash !== saved.topHash) return false;
  if (now.height > saved.height) await post(`${nodeUrl}/pop_blocks`, { nblocks: now.height - saved.height });
  await call(nodeUrl, "flush_txpool");
  return true;
}

/** A program writes its log there as long as it runs. */
const isLog = (name: string): boolean => name.includes(".log");

async function restoreFolder({ program, saved }: { program: OwnProcess; saved: string }): Promise<void> {
  const { folder } = program;
  const added = (await readdir(folder)).filter((name) => !isLog(name));
  await allOrNone(added.map((name) => rm(join(folder, name), { recursive: true, force: true })));
  await cp(saved, folder, { recursive: true, filter: (path) => !isLog(basename(path)) });
}

const openWallet = ({ url, name }: OpenedWallet) =>
  call(url, "open_wallet", { filename: name, password: "" });

/** What it knows is to be forgotten. */
async function closeWallet({ url }: OpenedWallet): Promise<void> {
  await call(url, "close_wallet", { autosave_current: false }).catch((error) => {
    if (!(error instanceof CallFailed)) throw error;
  });
}
