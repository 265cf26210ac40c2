import type { Clock } from "@anulo/p2p";
import type { Logger } from "@anulo/rpc";

/** Logs how far the chain is, and how long it will take. */
export interface Progress {
  /** Some blocks were added: the chain has `height` of `target` blocks. */
  advance(height: number, target: number): void;
  /** The chain is as long as those of the peers. */
  finish(height: number): void;
}

/** Milliseconds between two log lines. */
const PACE_MS = 2000;
/**
 * Number of blocks from which a closing line is logged. Source: cryptonote_protocol_handler.inl
 * `on_connection_synchronized`.
 */
const MANY_BLOCKS = 20;

interface Run {
  readonly since: number;
  readonly from: number;
  loggedAt: number;
}

/** Logs from time to time while the chain grows. */
export function createProgress(clock: Clock, log: Logger): Progress {
  let run: Run | undefined;
  const rateOf = ({ since, from }: Run, height: number) =>
    (1000 * (height - from)) / Math.max(1, clock.milliseconds() - since);
  return {
    advance(height, target) {
      const now = clock.milliseconds();
      run ??= { since: now, from: height, loggedAt: now };
      if (now - run.loggedAt < PACE_MS || height >= target) return;
      run.loggedAt = now;
      const blocksPerSecond = rateOf(run, height);
      log.info("synchronizing", {
        height,
        target,
        percent: Math.min(99, Math.floor((100 * height) / target)),
        blocksPerSecond: Math.round(blocksPerSecond * 10) / 10,
        secondsLeft: blocksPerSecond === 0 ? undefined : Math.ceil((target - height) / blocksPerSecond),
      });
    },
    finish(height) {
      if (run !== undefined && height - run.from > MANY_BLOCKS) {
        log.info("synchronized", { height, blocksPerSecond: Math.round(rateOf(run, height) * 10) / 10 });
      }
      run = undefined;
    },
  };
}
