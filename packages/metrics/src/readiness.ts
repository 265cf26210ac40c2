/** Asks whether one thing a service needs works; the reason where it does not. */
export type ReadinessCheck = () => string | undefined | Promise<string | undefined>;

export type ReadinessChecks = { readonly [name: string]: ReadinessCheck };

export interface ReadinessReport {
  readonly isReady: boolean;
  /** "ok", or why the service is not ready, by the names of the checks. */
  readonly checks: Readonly<Record<string, string>>;
}

export interface Readiness {
  /** Runs every check, or returns the report of a moment ago. */
  report(): Promise<ReadinessReport>;
}

export interface ReadinessOptions {
  /** Milliseconds after which a check that has not answered counts as failed. */
  readonly timeoutMs?: number;
  /** Milliseconds for which a report is returned again, so that many requests cost no more than one. */
  readonly freshMs?: number;
  /** Milliseconds. */
  readonly now?: () => number;
}

/** A fault is reported within these two together, less than five seconds after it. */
const TIMEOUT_MS = 2000;
export const FRESH_MS = 1000;

/** Runs the checks of a service on request. */
export function createReadiness(
  checks: ReadinessChecks,
  { timeoutMs = TIMEOUT_MS, freshMs = FRESH_MS, now = () => performance.now() }: ReadinessOptions = {},
): Readiness {
  const pending = new Map<string, Promise<string | undefined>>();
  /** A check that does not end is not begun again: probes would pile them up. */
  const begin = (name: string, check: ReadinessCheck): Promise<string | undefined> => {
    const inProgress = pending.get(name);
    if (inProgress !== undefined) return inProgress;
    const result = (async () => check())().finally(() => pending.delete(name));
    pending.set(name, result);
    return result;
  };
  let last: { readonly at: number; readonly report: ReadinessReport } | undefined;
  let running: Promise<ReadinessReport> | undefined;
  const run = async (): Promise<ReadinessReport> => {
    const outcomes = await Promise.all(
      Object.entries(checks).map(
        async ([name, check]) => [name, await outcomeOf(begin(name, check), timeoutMs)] as const,
      ),
    );
    const report = {
      isReady: outcomes.every(([, outcome]) => outcome === "ok"),
      checks: Object.fromEntries(outcomes),
    };
    last = { at: now(), report };
    return report;
  };
  return {
    async report() {
      if (last !== undefined && now() - last.at < freshMs) return last.report;
      running ??= run().finally(() => {
        running = undefined;
      });
      return await running;
    },
  };
}

async function outcomeOf(check: Promise<string | undefined>, timeoutMs: number): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no answer within ${timeoutMs} ms`), timeoutMs);
  });
  try {
    return (await Promise.race([check, late])) ?? "ok";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(timer);
  }
}
