import { availableParallelism } from "node:os";
import type { Logger } from "@anulo/rpc";
import type { Events } from "../chain/events.ts";
import type { ChainParts } from "../chain/parts.ts";
import type { Pow } from "../pow/pow.ts";
import { type BackgroundSettings, backgroundDefaults } from "./background.ts";
import { type BackgroundMode, createBackgroundMode, type PowerSource } from "./background-mode.ts";
import { createHashRate, type HashRate } from "./hash-rate.ts";
import type { MinerKeys } from "./miner-transaction.ts";
import { createSearching, type Searching } from "./searching.ts";
import { createThreadCount, type ThreadCount, TRIAL_SECONDS } from "./thread-count.ts";

/** The parameters of mining. */
export interface MiningOrder {
  /** The address as text, as RPC returns it. */
  readonly address: string;
  readonly keys: MinerKeys;
  /** Threads; 0 to find the number that is worth it. */
  readonly threads: number;
  /** Mines only while the machine is idle otherwise. */
  readonly isInBackground: boolean;
  /** In the background: mines even where it is unknown whether the machine runs on a battery. */
  readonly ignoreBattery: boolean;
}

/** The state of mining. */
export interface MiningState extends Pick<MiningOrder, "address" | "isInBackground" | "ignoreBattery"> {
  readonly threads: number;
  /** Hashes a second. */
  readonly speed: number;
  /** Reward of the current template (atomic units). */
  readonly blockReward: bigint;
  readonly background: BackgroundSettings;
}

/** The miner of the node. */
export interface Miner {
  /** Throws when it is mining already. */
  start(order: MiningOrder): void;
  stop(): void;
  /** Undefined when it is not mining. */
  state(): MiningState | undefined;
  /** Sets whether the hash rate is logged. */
  showHashRate(isShown: boolean): void;
}

export interface MinerOptions {
  readonly parts: ChainParts;
  readonly events: Events;
  readonly pow: Pow;
  readonly log: Logger;
  readonly background?: BackgroundSettings | undefined;
  /** Returns the machine's source of power. */
  readonly powerSource?: (() => PowerSource) | undefined;
}

/** Source: miner.h, the intervals of `on_idle`. */
const RATE_MS = 2000;

interface Running {
  readonly order: MiningOrder;
  readonly searching: Searching;
  readonly background: BackgroundMode | undefined;
  readonly rate: HashRate;
  readonly count: ThreadCount;
  readonly timers: readonly NodeJS.Timeout[];
}

/** Creates a miner that does not mine until it is started. */
export function createMiner(options: MinerOptions): Miner {
  const { log, background: settings = backgroundDefaults } = options;
  let running: Running | undefined;
  let isShown = false;
  const stop = () => {
    running?.timers.forEach(clearInterval);
    running?.background?.stop();
    running?.searching.stop();
    running = undefined;
  };
  return {
    start(order) {
      if (running !== undefined) throw new Error("mining has been started already");
      running = run(options, { order, settings, onFault: stop, isShown: () => isShown });
      log.info("mining started", { threads: running.count.threads, background: order.isInBackground });
    },
    stop() {
      if (running !== undefined) log.info("mining stopped");
      stop();
    },
    state() {
      if (running === undefined) return undefined;
      const { order, searching, rate, count } = running;
      return {
        ...order,
        threads: count.threads,
        speed: Math.floor(rate.latest),
        blockReward: searching.blockReward(),
        background: settings,
      };
    },
    showHashRate(isVisible) {
      isShown = isVisible;
    },
  };
}

interface RunOptions {
  readonly order: MiningOrder;
  readonly settings: BackgroundSettings;
  onFault(): void;
  isShown(): boolean;
}

function run(options: MinerOptions, { order, settings, onFault, isShown }: RunOptions): Running {
  const { log, powerSource } = options;
  const rate = createHashRate(() => performance.now());
  const trial = createHashRate(() => performance.now());
  const count = createThreadCount(order.threads, availableParallelism());
  let background: BackgroundMode | undefined;
  const searching = createSearching({
    ...options,
    keys: order.keys,
    effort: () => ({ threads: count.threads, ...background?.effort() }),
    onHashes(hashes, cpuMs) {
      rate.add(hashes);
      trial.add(hashes);
      background?.recordCpuTime(cpuMs);
    },
    onFault,
  });
  if (order.isInBackground) {
    const { ignoreBattery } = order;
    background = createBackgroundMode({
      settings,
      ignoreBattery,
      powerSource,
      log,
      onChange: searching.restart,
    });
  }
  const measure = () => {
    rate.measure();
    if (isShown()) log.info("hash rate", { hashesPerSecond: Number(rate.average.toFixed(4)) });
  };
  const tryThreads = () => {
    if (count.measured(trial.measure())) searching.restart();
  };
  searching.restart();
  const timers = [setInterval(measure, RATE_MS), setInterval(tryThreads, TRIAL_SECONDS * 1000)];
  for (const timer of timers) timer.unref();
  return { order, searching, background, rate, count, timers };
}
