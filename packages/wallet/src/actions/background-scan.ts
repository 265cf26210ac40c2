/**
 * Scanning without the spend secret. Each transaction that pays the wallet, or may spend from it, is stored as it was
 * found, with the key images of its inputs. Once the secret is back its spends are thus recognised without a request to
 * the node, which would reveal whose they are. Source: wallet2.cpp `process_background_cache`.
 */
import { wipe } from "@anulo/crypto";
import { toHex } from "@anulo/protocol";
import type { BlocksChange } from "../scan/messages.ts";
import type { BackgroundScan, ScannedTransaction, SpendKeys, WalletState } from "../state.ts";
import type { WorkThreads } from "../threads/work-threads.ts";
import type { Wallet } from "../wallet.ts";

/** The state of a wallet that scanned without its spend secret. */
export type FoundInBackground = Pick<WalletState, "height" | "recent" | "lastBlockReward"> & {
  readonly background: BackgroundScan;
};

/** Maximum number of transactions per change: some 10 ms of work. */
const TRANSACTIONS_PER_CHANGE = 500;

/** Wipes the spend secret and continues with the view secret alone. */
export function beginBackgroundSync(wallet: Wallet): Promise<void> {
  return wallet.whileUnchanged(async () => {
    await wallet.commit({ kind: "backgroundBegins", settings: wallet.scanSettings });
    const { keys } = wallet.signer;
    const isScanning = wallet.useKeys({ ...keys, spendSecret: undefined });
    wipe(keys.spendSecret);
    await isScanning;
  });
}

/**
 * Continues with the spend secret (32 bytes, which the wallet keeps and wipes), and applies what was found without it.
 * The blocks scanned without it are undone first: after a crash in between they are scanned once more.
 */
export function endBackgroundSync(wallet: Wallet, spendSecret: Uint8Array): Promise<void> {
  return wallet.whileUnchanged(async () => {
    const { background } = wallet.state;
    if (background === undefined) return;
    const keys = { ...wallet.keys, spendSecret };
    const runs = await blocksOfBackground({ ...wallet.state, background }, keys, wallet.runtime.threads);
    try {
      await wallet.undoDownTo(background.fromHeight);
      await wallet.commit({ kind: "backgroundEnds" });
      await settle(wallet, runs);
    } finally {
      await wallet.useKeys(keys);
    }
  });
}

/** Imports what a copy of this wallet without the spend secret has scanned since it was created from this one. */
export function learnFromBackground(wallet: Wallet, copy: FoundInBackground): Promise<void> {
  return wallet.whileUnchanged(async () => {
    const { keys, scanningKeys } = wallet.signer;
    const { spendSecret } = scanningKeys;
    if (spendSecret === undefined) return;
    const images = { ...scanningKeys, spendSecret };
    await settle(wallet, await blocksOfBackground(copy, images, wallet.runtime.threads));
    await wallet.useKeys(keys);
  });
}

/**
 * Applies the changes. A payment that a reorganisation has undone meanwhile counts as missing, since the pool was not
 * scanned, or as failed if it can't be sent again: the next scan of the pool restores it if it is there.
 */
async function settle(wallet: Wallet, runs: readonly BlocksChange[]): Promise<void> {
  for (const run of runs) await wallet.commit(run);
  for (const { txHash, isUndone, state, blob } of wallet.state.outgoing.unconfirmed())
    if (isUndone === true && state === "pending")
      await wallet.commit({
        kind: "outgoingState",
        txHash: toHex(txHash),
        state: blob === undefined ? "failed" : "missing",
      });
}

/** Changes for the scanned blocks, as a scan with the spend secret would have found them. */
async function blocksOfBackground(
  { height, recent, lastBlockReward, background }: FoundInBackground,
  keys: SpendKeys,
  threads: WorkThreads,
): Promise<BlocksChange[]> {
  const { fromHeight } = background;
  const transactions = await threads.map("findKeyImages", background.transactions, { keys });
  const changes: BlocksChange[] = [];
  for (let at = 0, from = fromHeight; from < height; ) {
    const end = endOfRun(transactions, at);
    const next = transactions[end]?.height ?? height;
    changes.push({
      kind: "blocks",
      fromHeight: from,
      count: next - from,
      ids: recent.slice(from, next),
      lastBlockReward,
      transactions: transactions.slice(at, end),
    });
    [at, from] = [end, next];
  }
  return changes;
}

/** End index of a run of transactions; a block is never split between two runs. */
function endOfRun(transactions: readonly ScannedTransaction[], at: number): number {
  let end = Math.min(at + TRANSACTIONS_PER_CHANGE, transactions.length);
  while (end < transactions.length && transactions[end]!.height === transactions[end - 1]!.height) end++;
  return end;
}
