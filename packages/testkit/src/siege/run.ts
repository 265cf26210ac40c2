import { setTimeout as delay } from "node:timers/promises";
import { call } from "@anulo/devnet";
import type { LoopWatch } from "../load/loop-report.ts";
import { until } from "../until.ts";
import { type Attack, isOrdeal, type Ordeal } from "./attack.ts";
import { type HostileListener, startListener } from "./hostile-listener.ts";
import { type Figures, judge, type Verdict } from "./judge.ts";
import { startControl, startProber } from "./prober.ts";
import { cpuSeconds, peakMiB, startPeak } from "./process-cost.ts";
import { createTemplate, HonestPeer, type Scene, startScene, type Template } from "./scene.ts";
import { Siege } from "./siege.ts";

export interface SiegeOptions {
  /** Smaller and shorter; attacks that need no node of their own follow one another on the same. */
  readonly isShort: boolean;
  /** Whether limits of time are held; only where nothing else keeps the cores busy. */
  readonly isTimed: boolean;
  /** Requests a second on the owner's port. */
  readonly perSecond?: number;
  /** Path of the `bin/anulo.js` of another build to attack. */
  readonly entry?: string;
  /** Watches the event loop of the node; each attack then has a node of its own. */
  readonly watch?: LoopWatch;
}

interface RunOptions extends Required<Omit<SiegeOptions, "entry" | "watch">> {
  readonly watch: LoopWatch | undefined;
  readonly template: Template;
  /** Port of the idle server that the node's delays are compared with. */
  readonly controlPort: number;
  readonly addresses: { used: number };
}

export interface Report {
  readonly name: string;
  readonly by: Attack["by"];
  readonly does: string;
  readonly stands: string;
  readonly seconds: number;
  readonly failures: readonly string[];
  readonly figures?: Figures | undefined;
  readonly used: Verdict["used"];
  readonly remark?: string | undefined;
}

const DEFAULT_RATE = 50;
const SECONDS = { full: 10, short: 1 };
const ROUNDS = { full: 20, short: 2 };
const WATCH_SECONDS = { full: 1, short: 0.3 };
/** What an idle node does in passing (collecting garbage, timers) settles before its memory is noted. */
const SETTLE_MS = 300;
/** How long the prober takes to open its connections, one a request. */
const CONNECTED_MS = 500;
const BLOCK_INTERVAL_MS = 500;
/** How long an honest block is awaited. */
const ARRIVAL_MS = 30_000;
/** How long the node may take to hang up on those whose messages it still has to read. */
const HANG_UP_MS = 10_000;

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Where attacks are run, one at a time. */
export interface OpenSiege {
  run(attack: Attack | Ordeal): Promise<Report>;
  close(): Promise<void>;
}

/** Makes the chain that nodes under attack begin with, and the idle process they are compared with. */
export async function openSiege({ entry, watch, ...options }: SiegeOptions): Promise<OpenSiege> {
  const template = await createTemplate(entry);
  const control = await startControl();
  const all: RunOptions = {
    perSecond: DEFAULT_RATE,
    ...options,
    watch,
    template,
    controlPort: control.port,
    addresses: { used: 0 },
  };
  let shared: Scene | undefined;
  const leaveShared = async () => {
    const scene = shared;
    shared = undefined;
    await scene?.stop();
  };
  const needsOwn = (attack: Attack) =>
    !options.isShort || watch !== undefined || attack.isCalled || attack.target !== undefined;
  return {
    async run(attack) {
      if (isOrdeal(attack) || needsOwn(attack)) return await report(attack, all, undefined);
      shared ??= await startScene(template, { peers: [] });
      const reported = await report(attack, all, shared);
      // What one attack left behind is not to be blamed on the next.
      if (reported.failures.length > 0) await leaveShared();
      return reported;
    },
    async close() {
      await leaveShared();
      control.stop();
      template.remove();
    },
  };
}

/** Lets one attack happen and judges what the node did. */
async function report(
  attack: Attack | Ordeal,
  options: RunOptions,
  shared: Scene | undefined,
): Promise<Report> {
  const { name, by, does, stands } = attack;
  const begin = performance.now();
  const done = (rest: Pick<Report, "failures" | "used" | "figures" | "remark">): Report => ({
    ...{ name, by, does, stands, seconds: (performance.now() - begin) / 1000 },
    ...rest,
  });
  try {
    if (isOrdeal(attack)) {
      const rounds = options.isShort ? ROUNDS.short : ROUNDS.full;
      return done({
        failures: [],
        used: [],
        remark: await attack.endure({ rounds, isShort: options.isShort }),
      });
    }
    const observed =
      shared === undefined
        ? await besiegeAnother(attack, options)
        : await observe(attack, { ...shared, listener: undefined }, options);
    const { figures, complaint } = observed;
    const { failures, used } = judge(figures, {
      mustGo: attack.mustGo === true,
      isTimed: options.isTimed,
    });
    const all = complaint === undefined ? failures : [...failures, complaint];
    return done({ failures: all, figures, used });
  } catch (error) {
    return done({ failures: [describe(error)], used: [] });
  }
}

/** Attacks a node of its own. */
async function besiegeAnother(attack: Attack, options: RunOptions): Promise<Observed> {
  const listener = attack.isCalled ? await startListener() : undefined;
  const peers = listener === undefined ? [] : [listener.address];
  const { nodeFlags = [], env } = attack.target ?? {};
  const watched = {
    nodeFlags: [...nodeFlags, ...(options.watch?.nodeFlags ?? [])],
    env: { ...env, ...options.watch?.env },
  };
  const scene = await startScene(options.template, { ...attack.target, ...watched, peers });
  try {
    await delay(SETTLE_MS);
    return await observe(attack, { ...scene, listener }, options);
  } finally {
    listener?.stop();
    await scene.stop();
  }
}

interface Observed {
  readonly figures: Figures;
  /** Something beside the common limits that did not stay true. */
  readonly complaint: string | undefined;
}

/** Runs the attack while an honest peer mines and a prober asks on the owner's port. */
async function observe(
  attack: Attack,
  scene: Scene & { readonly listener: HostileListener | undefined },
  options: RunOptions,
): Promise<Observed> {
  const { target, honest, listener } = scene;
  const { template, controlPort, isShort, perSecond, addresses } = options;
  const watch = watchHonest(new HonestPeer(target, honest, template.chain.wallets.alice.address));
  const connection = await watch.peer.connectionId();
  let hasEnded = false;
  void target.ended.then(() => {
    hasEnded = true;
  });
  const idleMiB = startPeak(target.pid);
  const cpu = cpuSeconds(target.pid);
  const prober = startProber({ port: target.port, controlPort, perSecond, method: "get_info" });
  // Its connections are there before the attackers' are.
  await delay(CONNECTED_MS);
  const seconds = isShort ? SECONDS.short : SECONDS.full;
  const watchSeconds = isShort ? WATCH_SECONDS.short : WATCH_SECONDS.full;
  const { chain } = template;
  const siege = new Siege({ target, honest, listener, chain, seconds, isShort, addresses });
  await options.watch?.report(target.pid);
  const begin = performance.now();
  const blocks = watch.run();
  const complaint = await attack.run(siege).then(
    () => undefined,
    (error: unknown) => describe(error),
  );
  await siege.end();
  await delay((attack.watchSeconds ?? watchSeconds) * 1000);
  const elapsed = (performance.now() - begin) / 1000;
  const loop = hasEnded ? undefined : await options.watch?.report(target.pid);
  const cores = Math.max(0, cpuSeconds(target.pid) - cpu) / elapsed;
  const probed = await prober.stop();
  watch.stop();
  await blocks;
  const stillThere = await countThere(siege, attack.mustGo ? HANG_UP_MS : 0);
  const figures: Figures = {
    isAlive: !hasEnded,
    idleMiB,
    peakMiB: peakMiB(target.pid),
    probed,
    cores,
    loop,
    seconds: elapsed,
    honest: {
      isSameConnection: connection === (await watch.peer.connectionId().catch(() => undefined)),
      ...watch.figures,
    },
    attackers: {
      opened: siege.peers.length + siege.callers.length,
      stillThere,
      refused: siege.refused,
      banned: await countBans(target.url),
    },
  };
  siege.leave();
  return { figures, complaint };
}

/** How many attackers the node has not thrown out, also those that left; it may have to read what it got first. */
async function countThere({ peers, callers }: Siege, hangUpMs: number): Promise<number> {
  // A peer whose time was over after its handshake has done nothing wrong.
  const all = [...peers.filter(({ sends }) => sends !== 1), ...callers];
  for (const { socket } of all) socket.resume();
  await until(async () => all.every(({ isClosed }) => isClosed), hangUpMs);
  return all.filter(({ isClosed, hasLeft }) => !isClosed || hasLeft).length;
}

async function countBans(url: string): Promise<number> {
  const { bans } = await call(url, "get_bans").catch(() => ({ bans: [] }));
  return Array.isArray(bans) ? bans.length : 0;
}

interface HonestWatch {
  readonly peer: HonestPeer;
  readonly figures: { mined: number; arrived: number; worstArrivalMs: number };
  run(): Promise<void>;
  stop(): void;
}

/** Mines beside the attack until stopped, and once more after it. */
function watchHonest(peer: HonestPeer): HonestWatch {
  const figures = { mined: 0, arrived: 0, worstArrivalMs: 0 };
  let isStopped = false;
  const mineOne = async () => {
    figures.mined++;
    const ms = await peer.mine(ARRIVAL_MS).catch(() => undefined);
    if (ms !== undefined) figures.arrived++;
    figures.worstArrivalMs = Math.max(figures.worstArrivalMs, ms ?? ARRIVAL_MS);
    return ms !== undefined;
  };
  return {
    peer,
    figures,
    async run() {
      while (!isStopped) {
        await delay(BLOCK_INTERVAL_MS);
        if (!(await mineOne())) return;
      }
    },
    stop: () => {
      isStopped = true;
    },
  };
}
