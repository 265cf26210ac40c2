import { setTimeout as delay } from "node:timers/promises";
import { until } from "../until.ts";
import type { ChainFolders } from "./chain-folders.ts";
import { Net } from "./net.ts";
import type { Plan, Step } from "./plan.ts";

/**
 * How long a network may take to agree after it has healed: an original drops a peer that has fallen silent after
 * four minutes. Source: cryptonote_protocol_handler.inl `IDLE_PEER_KICK_TIME`.
 */
const AGREE_MS = 420_000;
/** After this, it is said who is behind. */
const SLOW_MS = 60_000;
/** A payment that lost its way in the stem phase is sent to all after some minutes. Source: cryptonote_config.h `CRYPTONOTE_DANDELIONPP_EMBARGO_AVERAGE`. */
const PAYMENT_MS = 600_000;
const BLOCK_INTERVAL_MS = 10_000;
const POLL_MS = 1000;
/** Of what a node that is left behind printed. */
const MAX_LINES = 15;
const MINING_TRIES = 40;
const MINING_PAUSE_MS = 500;

export interface NetworkOptions {
  readonly plan: Plan;
  readonly folders: ChainFolders;
  readonly log: (text: string) => void;
}

export interface NetworkReport {
  readonly height: number;
  readonly mined: number;
  readonly payments: number;
  /** Blocks that were mined and are not in the chain all agree on. */
  readonly orphaned: number;
  readonly healMs: number;
  readonly paymentsMs: number;
}

type Tops = Awaited<ReturnType<Net["tops"]>>;

interface Played {
  readonly mined: string[];
  readonly paid: number[];
}

/** Plays a plan on a network, lets it heal, and checks that it did. Throws where it did not. */
export async function runNetwork({ plan, folders, log }: NetworkOptions): Promise<NetworkReport> {
  const net = await Net.start({ plan, folders, log });
  try {
    await waitForAll(net, "be synchronized", (tops) => tops.every(({ isSynchronized }) => isSynchronized));
    log(`${net.nodes.length} nodes, ${net.links.length} lines, all synchronized`);
    const played: Played = { mined: [], paid: [] };
    for (const step of plan.steps) await play(net, step, played);
    const begin = performance.now();
    for (const link of net.links) link.heal();
    await mineUntilAgreement(net, played);
    const healMs = performance.now() - begin;
    log(`healed in ${(healMs / 1000).toFixed(1)} s, ${played.mined.length} blocks mined`);
    const paymentsMs = await checkPayments(net, played);
    log(`${played.paid.length} payments arrived in ${(paymentsMs / 1000).toFixed(1)} s`);
    await checkNothingStuck(net, played);
    const bans = await net.bans();
    if (bans.length > 0) throw new Error(`honest nodes are banned: ${JSON.stringify(bans)}`);
    const { height } = await net.top(0);
    const inChain = height - 1 - folders.chain.blocks.length;
    return {
      height,
      mined: played.mined.length,
      payments: played.paid.length,
      orphaned: played.mined.length - inChain,
      healMs,
      paymentsMs,
    };
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${await describe(net)}`, {
      cause: error,
    });
  } finally {
    await net.stop();
  }
}

async function play(net: Net, step: Step, played: Played): Promise<void> {
  switch (step.kind) {
    case "part":
      for (const [i, [from, to]] of net.plan.links.entries())
        if (step.groups[from] !== step.groups[to]) net.links[i]!.cut();
      return;
    case "heal":
      for (const link of net.links) link.heal();
      return;
    case "slow":
      net.links[step.link % net.links.length]!.slowDown(step.delayMs);
      return;
    case "drop":
      net.links[step.link % net.links.length]!.dropAll();
      return;
    case "mine":
      played.mined.push(...(await mineSurely(net, step.node, step.blocks)));
      return;
    case "pay":
      if (await net.pay(step.node, step.payment)) played.paid.push(step.payment);
      else if ((await net.whereIs(step.node, step.payment)) === "nowhere")
        throw new Error(`node ${step.node} refused payment ${step.payment}`);
      return;
    case "wait":
      await delay(step.ms);
  }
}

/** An original that is just fetching blocks mines none; soon it does. */
async function mineSurely(net: Net, node: number, blocks: number): Promise<string[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await net.mine(node, blocks);
    } catch (error) {
      if (tries === MINING_TRIES) throw new Error(`node ${node} does not mine: ${error}`);
      await delay(MINING_PAUSE_MS);
    }
  }
}

async function waitForAll(
  net: Net,
  what: string,
  isSo: (tops: Tops) => boolean | Promise<boolean>,
): Promise<void> {
  const slowAt = performance.now() + SLOW_MS;
  let isSaid = false;
  const isThere = await until(async () => {
    if (await isSo(await net.tops())) return true;
    if (!isSaid && performance.now() > slowAt) {
      isSaid = true;
      net.log(`slow to ${what}:\n${await describe(net)}`);
    }
    await delay(POLL_MS);
    return false;
  }, AGREE_MS);
  if (!isThere) throw new Error(`the nodes did not ${what} within ${AGREE_MS / 1000} s`);
}

const hasOneTip = (tops: Tops) => new Set(tops.map(({ hash }) => hash)).size === 1;

const waitForAgreement = (net: Net, when: string) => waitForAll(net, `agree on one tip ${when}`, hasOneTip);

/** Branches of the same length stay what they are until one more block decides: mines one wherever that is so. */
async function mineUntilAgreement(net: Net, played: Played): Promise<void> {
  let nextBlock = performance.now();
  await waitForAll(net, "agree on one tip after healing", async (tops) => {
    if (hasOneTip(tops)) return true;
    const isTie = new Set(tops.map(({ height }) => height)).size === 1;
    if (isTie && performance.now() > nextBlock) {
      played.mined.push(...(await mineSurely(net, 0, 1)));
      nextBlock = performance.now() + BLOCK_INTERVAL_MS;
    }
    return false;
  });
}

/** Every payment is in the chain or in all pools; milliseconds until it was so. Mining goes on meanwhile. */
async function checkPayments(net: Net, { paid, mined }: Played): Promise<number> {
  const begin = performance.now();
  const remaining = new Set(paid);
  let nextBlock = begin + BLOCK_INTERVAL_MS;
  const haveArrived = async () => {
    for (const payment of remaining) {
      const places = await Promise.all(net.nodes.map((_, node) => net.whereIs(node, payment)));
      const holder = places.indexOf("pool");
      if (!places.includes("nowhere")) remaining.delete(payment);
      else if (holder !== -1 && performance.now() > nextBlock) {
        mined.push(...(await mineSurely(net, holder, 1)));
        nextBlock = performance.now() + BLOCK_INTERVAL_MS;
      }
    }
    if (remaining.size > 0) await delay(POLL_MS);
    return remaining.size === 0;
  };
  if (!(await until(haveArrived, PAYMENT_MS)))
    throw new Error(`payments ${[...remaining].join(", ")} did not reach all nodes`);
  return performance.now() - begin;
}

/** Each node mines one more block, and all get it. */
async function checkNothingStuck(net: Net, played: Played): Promise<void> {
  for (let node = 0; node < net.nodes.length; node++) {
    played.mined.push(...(await mineSurely(net, node, 1)));
    await waitForAgreement(net, `after node ${node} mined`);
  }
}

/** What each node is and has, for who has to find out what went wrong. */
async function describe(net: Net): Promise<string> {
  const unknown = { height: 0, hash: "no answer", isSynchronized: false };
  const tops = await Promise.all(net.nodes.map((_, node) => net.top(node).catch(() => unknown)));
  const count = (hash: string) => tops.filter((top) => top.hash === hash).length;
  const lines = await Promise.all(
    tops.map(async ({ height, hash, isSynchronized }, node) => {
      const what = `  node ${node} (${net.plan.programs[node]}): height ${height}, ${hash.slice(0, 16)}, synchronized ${isSynchronized}`;
      if (2 * count(hash) > tops.length) return what;
      const connections = await net.connections(node).catch(() => []);
      const output = net.nodes[node]?.output().trimEnd().split("\n").slice(-MAX_LINES).join("\n      ");
      return [what, ...connections.map((line) => `    ${line}`), `      ${output}`].join("\n");
    }),
  );
  return lines.join("\n");
}
