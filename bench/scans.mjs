// Both wallet services while they scan payments of strangers on our node: the first scan of a service just started, and
// scanning again. Processor time is that of the wallet's process alone.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, loadChain, prepareChain, startDaemon, startWallet } from "@anulo/testkit";
import { costOf } from "./cost.mjs";
import { median } from "./timing.mjs";
import { restore, sides } from "./wallets.mjs";

/** Whole groups of 512 are made. */
const BLOCKS = 4096;
const PAYMENTS_PER_BLOCK = 0.92;
const ROUNDS = 5;
const RESCANS = 3;
const kinds = ["first", "again"];

/** What a new service takes to open a wallet and scan the chain, and then to scan it again. */
async function scansOf(maker, { node, alice }) {
  const wallet = await startWallet(maker, { daemonPort: node.port });
  try {
    const first = await costOf(wallet, () => restore(wallet.url, alice));
    const { height } = await call(wallet.url, "get_height");
    if (Number(height) !== node.height) throw new Error(`scanned ${height} of ${node.height} blocks`);
    const { balance } = await call(wallet.url, "get_balance", { account_index: 0 });
    if (Number(balance) !== 0) throw new Error("a payment of strangers was taken for the wallet's");
    const rescans = await costOf(wallet, async () => {
      for (let i = 0; i < RESCANS; i++) await call(wallet.url, "rescan_blockchain");
    });
    return { first, again: { wall: rescans.wall / RESCANS, cpu: rescans.cpu / RESCANS } };
  } finally {
    await wallet.stop();
  }
}

/** Medians of both sides, turn by turn. */
async function measureAt(node) {
  const { alice } = loadChain().wallets;
  const scans = { native: [], ours: [] };
  for (let round = 0; round < ROUNDS; round++)
    for (const side of ["native", "ours"]) scans[side].push(await scansOf(sides[side], { node, alice }));
  const of = (side, kind, cost) => median(scans[side].map((scan) => scan[kind][cost]));
  const costs = ["wall", "cpu"];
  const both = (kind, cost) => ({ ours: of("ours", kind, cost), native: of("native", kind, cost) });
  const figuresOf = (kind) => Object.fromEntries(costs.map((cost) => [cost, both(kind, cost)]));
  return Object.fromEntries(kinds.map((kind) => [kind, figuresOf(kind)]));
}

export async function measure() {
  const folder = mkdtempSync(join(tmpdir(), "anulo-scans-"));
  try {
    const { height, payments } = await prepareChain(folder, { blocks: BLOCKS, payments: PAYMENTS_PER_BLOCK });
    const node = await startDaemon({ kind: "ours" }, { dataDir: folder });
    try {
      const { first, again } = await measureAt({ ...node, height });
      const row = (name, values, atMost) => ({ name, unit: "ms", ...values, ...(atMost && { atMost }) });
      return [
        row(`scan of ${height} blocks, ${payments} payments of others, again`, again.wall, 0.4),
        row("  processor time", again.cpu, 0.5),
        row("  the first scan, wallet created", first.wall),
        row("  processor time", first.cpu, 0.8),
      ];
    } finally {
      await node.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
