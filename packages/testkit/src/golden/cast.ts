import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Program } from "@anulo/devnet";
import { fromHex, readTransaction } from "@anulo/protocol";
import { loadGoldenState } from "../fixtures.ts";
import { fillPoolFromBlocks, loadBlocks, sendTransaction, submitBlock, topHash } from "../load-chain.ts";
import {
  type Maker,
  type RunningDaemon,
  type RunningWallet,
  startDaemon,
  startWallet,
} from "../programs/servers.ts";
import type { Recording, ServerName } from "./recording.ts";

/** The servers of a recording, running. */
export type Cast = {
  readonly daemonPort: number;
  url(name: ServerName): string;
  /** Starts a wallet service again if it has ended; answers how it ended. */
  revive(name: ServerName): Promise<Ending | undefined>;
  /** Ends all that still run; answers how each ended. */
  stop(): Promise<Ending[]>;
};

/** The end of a program: its exit code, or null if a signal ended it, and what it printed. */
export type Ending = { readonly name: ServerName; readonly code: number | null; readonly output: string };

const pinnedClock = new URL("../programs/pinned-clock.js", import.meta.url);

const walletNames = ["a", "b", "c", "cold"] as const;

/** Starts the servers of a recording and brings the node to the recorded state. */
export async function startCast(maker: Maker, recording: Recording): Promise<Cast> {
  const { restricted = false, extra = [] } = recording.servers.node ?? {};
  const dataDir = mkdtempSync(join(tmpdir(), "anulo-golden-"));
  const removeFolder = () => rmSync(dataDir, { recursive: true, force: true });
  const start = async () => {
    if (recording.chain_loaded && maker.kind === "ours") await fillPool(dataDir, recording);
    return startDaemon(maker, { restricted, extra, nodeFlags: ["--import", pinnedClock.href], dataDir });
  };
  const daemon = await start().catch((error) => {
    removeFolder();
    throw error;
  });
  const wallets = new Map<ServerName, RunningWallet>();
  const stop = async () => {
    await Promise.all([...wallets.values()].map((wallet) => wallet.stop()));
    await daemon.stop();
    removeFolder();
    return Promise.all([...wallets, ["node", daemon] as const].map(([name, it]) => endingOf(name, it)));
  };
  try {
    if (recording.chain_loaded) await loadState(daemon, recording);
    for (const name of walletNames) {
      if (recording.servers[name]) wallets.set(name, await startNamed(maker, recording, { name, daemon }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    daemonPort: daemon.port,
    url: (name) => urlOf(name, daemon, wallets),
    revive: async (name) => {
      const wallet = wallets.get(name);
      if (!wallet || !(await hasEnded(wallet))) return undefined;
      wallets.set(name, await startNamed(maker, recording, { name: name as "a", daemon, before: wallet }));
      return endingOf(name, wallet);
    },
    stop,
  };
}

type NamedWallet = {
  readonly name: (typeof walletNames)[number];
  readonly daemon: RunningDaemon;
  readonly before?: RunningWallet;
};

function startNamed(maker: Maker, recording: Recording, { name, daemon, before }: NamedWallet) {
  const { login, extra = [] } = recording.servers[name] ?? {};
  return startWallet(maker, {
    extra,
    ...(login !== undefined && { login }),
    daemonPort: daemon.port,
    ...(before !== undefined && { walletDir: before.walletDir, port: before.port }),
  });
}

/** The chain of 0.18.0.0 has a locked payment, which that release took into its pool and today's does not (#9311). */
async function fillPool(dataDir: string, { release }: Recording): Promise<void> {
  const { blocks } = loadGoldenState(release);
  const isLocked = (hex: string) => readTransaction(fromHex(hex)).prefix.unlockTime !== 0n;
  const last = blocks.findLastIndex(({ txs }) => txs.some(isLocked));
  if (last !== -1) await fillPoolFromBlocks(dataDir, blocks.slice(0, last + 1));
}

async function loadState(
  daemon: RunningDaemon,
  { release, pool_loaded: withPool }: Recording,
): Promise<void> {
  const state = loadGoldenState(release);
  await loadBlocks(daemon.url, state.blocks);
  for (const blob of state.alt) await submitBlock(daemon.url, blob);
  if (withPool) for (const hex of state.pool) await sendTransaction(daemon.url, hex);
  const top = await topHash(daemon.url);
  if (top !== state.top_hash) throw new Error(`loaded chain ends in ${top}, recorded ${state.top_hash}`);
}

function urlOf(
  name: ServerName,
  daemon: RunningDaemon,
  wallets: ReadonlyMap<ServerName, RunningWallet>,
): string {
  if (name === "node") return daemon.url;
  const url = name === "restricted" ? daemon.restrictedUrl : wallets.get(name)?.url;
  if (url === undefined) throw new Error(`the recording has no server ${name}`);
  return url;
}

async function endingOf(name: ServerName, program: Program): Promise<Ending> {
  return { name, code: await program.ended, output: program.output() };
}

function hasEnded(wallet: RunningWallet): Promise<boolean> {
  return Promise.race([wallet.ended.then(() => true), Promise.resolve(false)]);
}
