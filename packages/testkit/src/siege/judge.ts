import type { LoopReport } from "../load/loop-report.ts";
import type { Probed } from "./prober.ts";

/** What must stay true of a node under any attack. */
const limits = {
  /** Resident memory above that of the idle node. */
  memoryMiB: 300,
  /** Of 100 get_info on the owner's port, 99 are answered within this, beside what the machine itself delays. */
  latencyMs: 250,
  /** An honest peer's block is in the chain after this. */
  arrivalMs: 5000,
  /** Processor time that attackers who are still there may cost a second: the node's rate of work for them. */
  throttledCores: 0.9,
} as const;

/** On a machine whose cores are busy a block takes as long as it takes; that it arrives is what matters. */
const BUSY_ARRIVAL_MS = 30_000;
/** Delays of an idle process are the machine's; a node that computes meets several of them in a row. */
const DELAYS_OF_MACHINE = 3;

export interface Figures {
  readonly isAlive: boolean;
  readonly idleMiB: number;
  readonly peakMiB: number;
  readonly probed: Probed;
  /** Processor seconds of the node a second while it was attacked. */
  readonly cores: number;
  /** Of its event loop, where that was watched. */
  readonly loop?: LoopReport | undefined;
  readonly seconds: number;
  readonly honest: {
    readonly isSameConnection: boolean;
    readonly mined: number;
    readonly arrived: number;
    readonly worstArrivalMs: number;
  };
  readonly attackers: {
    readonly opened: number;
    readonly stillThere: number;
    readonly refused: number;
    readonly banned: number;
  };
}

export interface Verdict {
  readonly failures: readonly string[];
  /** Each limit with the share of it that was used: 1 is all of it. */
  readonly used: readonly { readonly what: string; readonly text: string; readonly share: number }[];
}

export interface JudgeOptions {
  readonly mustGo: boolean;
  /** Limits of time hold only where nothing else keeps the cores busy. */
  readonly isTimed: boolean;
}

/** Compares what was measured with what must stay true. */
export function judge(figures: Figures, { mustGo, isTimed }: JudgeOptions): Verdict {
  const { probed, honest, attackers } = figures;
  const memory = figures.peakMiB - figures.idleMiB;
  const latencyLimit = limits.latencyMs + DELAYS_OF_MACHINE * probed.control.p99;
  const arrivalLimit = isTimed ? limits.arrivalMs : BUSY_ARRIVAL_MS;
  const isGone = attackers.stillThere === 0;
  const isThrottled = figures.cores <= limits.throttledCores;
  const failures: string[] = [];
  const check = (isSo: boolean, text: string) => {
    if (!isSo) failures.push(text);
  };
  check(figures.isAlive, "the node ended");
  check(memory <= limits.memoryMiB, `${memory.toFixed(0)} MiB above idle`);
  check(
    probed.node.failures + probed.node.unanswered === 0,
    `${probed.node.failures} of the owner's requests failed, ${probed.node.unanswered} were not answered`,
  );
  check(!isTimed || probed.node.p99 <= latencyLimit, `get_info p99 ${probed.node.p99.toFixed(0)} ms`);
  check(honest.isSameConnection, "the honest peer lost its connection");
  check(honest.arrived === honest.mined, `${honest.mined - honest.arrived} honest blocks did not arrive`);
  check(
    honest.worstArrivalMs <= arrivalLimit,
    `an honest block took ${honest.worstArrivalMs.toFixed(0)} ms to arrive`,
  );
  if (mustGo) check(isGone, `${attackers.stillThere} of ${attackers.opened} attackers still connected`);
  else if (isTimed)
    check(
      isGone || isThrottled,
      `attackers stay and cost ${figures.cores.toFixed(2)} cores: neither gone nor throttled`,
    );
  const used = [
    { what: "memory", text: `${memory.toFixed(0)} MiB`, share: memory / limits.memoryMiB },
    {
      what: "get_info p99",
      text: `${probed.node.p99.toFixed(1)} ms`,
      share: probed.node.p99 / limits.latencyMs,
    },
    {
      what: "honest block",
      text: `${honest.worstArrivalMs.toFixed(0)} ms`,
      share: honest.worstArrivalMs / limits.arrivalMs,
    },
    ...(isGone
      ? []
      : [
          {
            what: "processor",
            text: `${figures.cores.toFixed(2)} cores`,
            share: figures.cores / limits.throttledCores,
          },
        ]),
  ];
  return { failures, used };
}
