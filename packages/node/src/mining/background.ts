/**
 * When a miner in the background may work, and how much it rests: it shall not be noticed by who uses the machine.
 * Source: miner.cpp `background_worker_thread`.
 */
export interface BackgroundSettings {
  /** Per cent of the processors that must be idle, or busy with mining, for mining to begin and go on. */
  readonly idleThreshold: number;
  /** Seconds it has to be idle before mining begins, 10 to 3600. */
  readonly minIdleSeconds: number;
  /** Per cent of the processors that mining may take, 1 to 100. */
  readonly target: number;
}

/** Source: miner.h. */
export const backgroundDefaults: BackgroundSettings = { idleThreshold: 90, minIdleSeconds: 10, target: 40 };

/** What the processors have done in all, in milliseconds; `mining` is what the hashing process took. */
export interface ProcessorTimes {
  readonly total: number;
  readonly idle: number;
  readonly mining: number;
}

export interface BackgroundState {
  readonly isMining: boolean;
  /** Milliseconds each thread rests after a hash. */
  readonly restMs: number;
  /** Seconds until the next look. */
  readonly nextPollSeconds: number;
}

/** Rests long at first, and looks every ten seconds while it mines. Source: miner.h. */
const FIRST_REST_MS = 400;
const MIN_REST_MS = 5;
const POLL_SECONDS = 10;

/** Not mining yet. */
export function firstBackgroundState({ minIdleSeconds }: BackgroundSettings): BackgroundState {
  return { isMining: false, restMs: FIRST_REST_MS, nextPollSeconds: minIdleSeconds };
}

/** What was seen since the last look. */
export interface BackgroundLook {
  readonly before: ProcessorTimes;
  readonly after: ProcessorTimes;
  /** Nothing is drawn from a battery. */
  readonly isPlugged: boolean;
}

/** Decides what to do until the next look. */
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
