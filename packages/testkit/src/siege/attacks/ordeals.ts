import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { call, freePorts, post } from "@anulo/devnet";
import { checkDatabase } from "@anulo/node";
import { type Chance, createChance } from "../../crash/chance.ts";
import { runCrashRounds } from "../../crash/rounds.ts";
import { loadChain } from "../../fixtures.ts";
import { submitBlock } from "../../load-chain.ts";
import { type DaemonOptions, type RunningDaemon, startDaemon } from "../../programs/servers.ts";
import { until } from "../../until.ts";
import type { Ordeal } from "../attack.ts";

const { address } = loadChain().wallets.alice;
/** How long a node may look for the right chain. */
const FIND_WAY_MS = 60_000;
const databaseOf = (dataDir: string) => join(dataDir, "regtest", "chain.mdb");

async function mine({ url }: RunningDaemon, blocks: number): Promise<string[]> {
  const mined = await call(url, "generateblocks", { amount_of_blocks: blocks, wallet_address: address });
  return (mined.blocks as unknown[]).map(String);
}

async function heightOf({ url }: RunningDaemon): Promise<number> {
  return Number((await call(url, "get_info")).height);
}

/** Does something to a node on a folder of its own, which is removed at the end. */
async function onFolder<T>(act: (dataDir: string) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), "anulo-ordeal-"));
  try {
    return await act(dataDir);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Mines until the node is gone; the blocks it acknowledged. */
async function mineUntilItEnds(node: RunningDaemon, blocks: number): Promise<string[]> {
  const acknowledged: string[] = [];
  try {
    for (;;) acknowledged.push(...(await mine(node, blocks)));
  } catch {
    return acknowledged;
  }
}

/** The folder opens again and has what was acknowledged. */
async function checkReopens(dataDir: string, acknowledged: readonly string[]): Promise<void> {
  const node = await startDaemon({ kind: "ours" }, { dataDir });
  try {
    for (const hash of acknowledged.slice(-5)) await call(node.url, "get_block_header_by_hash", { hash });
    await mine(node, 1);
  } finally {
    await node.stop();
  }
  await checkDatabase({ path: databaseOf(dataDir), network: "regtest" });
}

interface Phase {
  readonly name: string;
  readonly does: string;
  /** Works until the node is gone. */
  work(node: RunningDaemon, chance: Chance): Promise<string[]>;
  /** Longest time until it is killed, in milliseconds. */
  readonly withinMs: number;
}

const phases: Phase[] = [
  {
    name: "kill-mining",
    does: "while it mines",
    withinMs: 500,
    work: (node, chance) => mineUntilItEnds(node, chance.between(1, 20)),
  },
  {
    name: "kill-popping",
    does: "while it pops blocks and mines them again",
    withinMs: 500,
    async work(node) {
      await mine(node, 60);
      try {
        for (;;) {
          await call(node.url, "get_info");
          await popBlocks(node, 20);
          await mine(node, 20);
        }
      } catch {
        return [];
      }
    },
  },
  {
    name: "kill-stopping",
    does: "while it stops",
    withinMs: 100,
    async work(node) {
      const acknowledged = await mine(node, 30);
      void node.stop().catch(() => {});
      await node.ended;
      return acknowledged;
    },
  },
];

async function popBlocks({ url }: RunningDaemon, blocks: number): Promise<void> {
  await post(`${url}/pop_blocks`, { nblocks: blocks });
}

/** Kills a node again and again in one phase of its life. */
function killOrdeal({ name, does, work, withinMs }: Phase): Ordeal {
  return {
    name,
    by: "system",
    does: `the node is killed at random moments ${does}`,
    stands: "ends without a last word",
    endure: ({ rounds }) =>
      onFolder(async (dataDir) => {
        const chance = createChance(name);
        let ids: string[] = [];
        for (let round = 0; round < rounds; round++) {
          const node = await startDaemon({ kind: "ours" }, { dataDir });
          const killed = delay(chance.between(5, withinMs) + (name === "kill-mining" ? 0 : 200)).then(() =>
            node.kill(),
          );
          ids = await work(node, chance).catch(() => []);
          await killed;
          await checkReopens(dataDir, name === "kill-popping" ? [] : ids);
        }
        return `${rounds} kills`;
      }),
  };
}

/** A node that may write files only up to a size ends with words, and has all it acknowledged. */
const fullDisk: Ordeal = {
  name: "disk-full",
  by: "system",
  does: "the disk is full at several sizes of the database",
  stands: "writes that the system refuses",
  async endure({ isShort }) {
    const sizes = isShort ? [2000] : [1500, 2000, 2500, 3000, 4000];
    for (const kib of sizes) {
      await onFolder(async (dataDir) => {
        const node = await startDaemon({ kind: "ours" }, { dataDir, shellLimit: `ulimit -f ${kib}` });
        const acknowledged = await mineUntilItEnds(node, 20);
        const code = await node.ended;
        if (code !== 1) throw new Error(`at ${kib} KiB it ended with ${code}: ${node.output().slice(-200)}`);
        if (!/could not be (written|flushed)/.test(node.output()))
          throw new Error(`no word about the disk: ${node.output().slice(-300)}`);
        await checkReopens(dataDir, acknowledged);
      });
    }
    return `${sizes.length} sizes`;
  },
};

/** Mines so many blocks after one of them. */
async function mineAfter({ url }: RunningDaemon, height: number, count: number): Promise<void> {
  const { block_header } = await call(url, "get_block_header_by_height", { height });
  let previous = String((block_header as { hash: string }).hash);
  for (let i = 0; i < count; i++) {
    const order = { amount_of_blocks: 1, wallet_address: address, prev_block: previous };
    const { blocks } = await call(url, "generateblocks", order);
    previous = String((blocks as string[])[0]);
  }
}

/** Two folders whose chains part at block 20; the blocks 21 to 26 of the second. */
async function growBranches(dataDir: string, honestDir: string): Promise<string[]> {
  const first = await startDaemon({ kind: "ours" }, { dataDir });
  await mine(first, 30).finally(() => first.stop());
  cpSync(dataDir, honestDir, { recursive: true });
  const second = await startDaemon({ kind: "ours" }, { dataDir: honestDir });
  try {
    await mineAfter(second, 20, 40);
    const blobs: string[] = [];
    for (let height = 21; height <= 26; height++) {
      blobs.push(String((await call(second.url, "get_block", { height })).blob));
    }
    return blobs;
  } finally {
    await second.stop();
  }
}

/** An operator pops below a branch that is the honest chain: its blocks are kept, their parents are not. */
const popped: Ordeal = {
  name: "popped-branch",
  by: "system",
  does: "an operator pops a wrong branch, while side blocks of the right one are kept, and an honest peer has that one",
  stands: "states in which an honest peer looks like a liar",
  endure: () =>
    onFolder((dataDir) =>
      onFolder(async (honestDir) => {
        const side = await growBranches(dataDir, honestDir);
        const [p2pPort] = await freePorts(1);
        const peers = await startEqual(dataDir);
        const node = await startDaemon(
          { kind: "ours" },
          { dataDir, peers: [`127.0.0.1:${p2pPort}`, `127.0.0.1:${peers.p2pPort}`] },
        );
        try {
          await until(async () => (await call(node.url, "get_info")).synchronized === true, FIND_WAY_MS);
          await peers.stop();
          for (const blob of side) await submitBlock(node.url, blob);
          await popBlocks(node, 15);
          return await findWay(node, { dataDir: honestDir, peers: [], p2pPort: p2pPort! });
        } finally {
          await node.stop();
        }
      }),
    ),
};

/** A peer with the same chain: until it has met one, a node takes no blocks from callers. */
async function startEqual(dataDir: string): Promise<RunningDaemon> {
  const copy = mkdtempSync(join(tmpdir(), "anulo-ordeal-"));
  cpSync(dataDir, copy, { recursive: true });
  return await startDaemon({ kind: "ours" }, { dataDir: copy, peers: [] });
}

async function findWay(node: RunningDaemon, options: DaemonOptions): Promise<string> {
  const honest = await startDaemon({ kind: "ours" }, options);
  try {
    const target = await heightOf(honest);
    const isThere = await until(async () => (await heightOf(node)) === target, FIND_WAY_MS);
    const { bans = [] } = await call(node.url, "get_bans");
    if ((bans as unknown[]).length > 0) throw new Error("the honest peer was banned");
    if (!isThere) throw new Error(`stuck at ${await heightOf(node)} of ${target}`);
    return "found its way";
  } finally {
    await honest.stop();
  }
}

/** The rounds of `npm run crash`: it is killed while it starts, fetches, verifies and reorganises. */
const killAnywhere: Ordeal = {
  name: "kill-syncing",
  by: "system",
  does: "the node is killed while it starts, takes blocks from callers and a peer, mines and reorganises",
  stands: "ends without a last word, in every phase of syncing",
  async endure({ rounds }) {
    const { kills, acknowledgedBlocks } = await runCrashRounds({ rounds, seed: "siege" });
    return `${kills} kills, ${acknowledgedBlocks} blocks acknowledged`;
  },
};

export const ordeals: readonly Ordeal[] = [fullDisk, popped, killAnywhere, ...phases.map(killOrdeal)];
