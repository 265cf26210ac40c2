/**
 * When a background miner may work, and how much it rests, so that users of the machine do not notice it. Source:
 * miner.cpp `background_worker_thread`.
 */
export interface BackgroundSettings {
  /** Per cent of the processors that must be idle or mining for mining to begin and to continue. */
  readonly idleThreshold: number;
  /** Seconds for which the machine has to be idle before mining begins, 10 to 3600. */
  readonly minIdleSeconds: number;
  /** Per cent of the processors that mining may take, 1 to 100. */
  readonly target: number;
}

/** Source: miner.h. */
export const backgroundDefaults: BackgroundSettings = { idleThreshold: 90, minIdleSeconds: 10, target: 40 };

/** Total time of the processors, in milliseconds; `mining` is that of the hashing process. */
export interface ProcessorTimes {
  readonly total: number;
  readonly idle: number;
  readonly mining: number;
}

export interface BackgroundState {
  readonly isMining: boolean;
  /** Milliseconds each thread rests after a hash. */
  readonly restMs: number;
  /** Seconds until the next check. */
  readonly nextPollSeconds: number;
}

/** The rest is long at first; while mining, the load is checked every ten seconds. Source: miner.h. */
const FIRST_REST_MS = 400;
const MIN_REST_MS = 5;
const POLL_SECONDS = 10;

/** The state before mining begins. */
export function firstBackgroundState({ minIdleSeconds }: BackgroundSettings): BackgroundState {
  return { isMining: false, restMs: FIRST_REST_MS, nextPollSeconds: minIdleSeconds };
}

/** The measurements since the last check. */
export interface BackgroundLook {
  readonly before: ProcessorTimes;
  readonly after: ProcessorTimes;
  /** True if the machine does not run on a battery. */
  readonly isPlugged: boolean;
}

/** Decides the state until the next check. */
export function nextBackgroundState(
  state: BackgroundState,
  settings: BackgroundSettings,
  { before, after, isPlugged }: BackgroundLook,
): BackgroundState {
  const total = Math.max(1, after.total - before.total);
  const idle = Math.ceil((100 * (after.idle - before.idle)) / total);
  const mining = Math.ceil((100 * (after.mining - before.mining)) / total);
  const { idleThreshold, target } = settings;
  const waiting = { ...state, isMining: false, nextPollSeconds: settings.minIdleSeconds };
  if (!isPlugged) return waiting;
  if (!state.isMining) {
    return idle < idleThreshold ? waiting : { ...state, isMining: true, nextPollSeconds: POLL_SECONDS };
  }
  if (idle + mining < idleThreshold) return waiting;
  const restMs = Math.max(MIN_REST_MS, state.restMs - (target - mining));
  return { isMining: true, restMs, nextPollSeconds: POLL_SECONDS };
}
