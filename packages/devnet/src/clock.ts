/** 2026-01-01T00:00:00Z, in seconds since 1970. */
const DEFAULT_START = 1_767_225_600;
/** Seconds between two blocks of the networks. Source: cryptonote_config.h DIFFICULTY_TARGET_V2. */
const DEFAULT_SECONDS_PER_BLOCK = 120;

export type ClockOptions = {
  /** When the chain begins, in seconds since 1970; `"system"`: the clock is that of the system. */
  readonly startTime?: number | "system" | undefined;
  /** Seconds by which each block moves a clock that is not the system's. */
  readonly secondsPerBlock?: number | undefined;
};

/**
 * The time of a devnet, for its node and its wallets. Unless it is the system's it stands still between blocks, so that
 * a run can be repeated.
 */
export type Clock = {
  /** Seconds since 1970. */
  readonly now: () => number;
  /** Number of the chain's blocks, which move the clock; 0 until it is set. */
  height: () => number;
  /** Seconds by which it was moved on request. */
  shift: number;
};

/** Creates the clock. Throws a RangeError for options that are no times. */
export function createClock({ startTime = DEFAULT_START, secondsPerBlock }: ClockOptions): Clock {
  const perBlock = secondsPerBlock ?? DEFAULT_SECONDS_PER_BLOCK;
  if (!Number.isSafeInteger(perBlock) || perBlock < 0)
    throw new RangeError("secondsPerBlock must be a whole number");
  if (startTime !== "system") checkTime(startTime);
  const clock: Clock = {
    height: () => 0,
    shift: 0,
    now: () => {
      if (startTime === "system") return Math.floor(Date.now() / 1000) + clock.shift;
      return startTime + clock.shift + perBlock * Math.max(0, clock.height() - 1);
    },
  };
  return clock;
}

/** The largest time that a block's header can have is larger; this one is in the year 2106. */
const MAX_TIME = 2 ** 32 - 1;

/** Throws a RangeError for what is no time in seconds since 1970. */
export function checkTime(seconds: number): void {
  if (!Number.isSafeInteger(seconds) || seconds < 0 || seconds > MAX_TIME)
    throw new RangeError(`a time is a whole number of seconds since 1970, at most ${MAX_TIME}`);
}
