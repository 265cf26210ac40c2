import { ConnectionFailed, HttpError } from "./errors.ts";

/** Statuses by which a service, or what is before it, says that it is not ready. */
const passing = new Set([429, 502, 503, 504]);

const FIRST_DELAY_MS = 200;
const MAX_DELAY_MS = 30_000;

/** Whether an attempt had no answer, so that another one may have. */
export const isUnanswered = (error: unknown): boolean =>
  error instanceof ConnectionFailed || (error instanceof HttpError && passing.has(error.status));

/** Milliseconds before the next attempt: twice as long each time, half of it by chance, or as the service wants it. */
export function delayBefore(attempt: number, error: unknown): number {
  const retryAfter = error instanceof HttpError ? error.retryAfter : undefined;
  if (retryAfter !== undefined) return Math.min(Math.max(0, retryAfter * 1000), MAX_DELAY_MS);
  const longest = Math.min(FIRST_DELAY_MS * 2 ** attempt, MAX_DELAY_MS);
  return longest * (0.5 + 0.5 * Math.random());
}

/** Resolves after so many milliseconds; rejects with the signal's reason. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

export type Repeating = {
  /** How often more than once. */
  readonly retries: number;
  /** Whether another attempt can do no harm; asked after each failure. */
  readonly maySend: (error: unknown) => boolean | Promise<boolean>;
  readonly signal: AbortSignal | undefined;
};

/** Makes attempts until one has an answer, and throws the last failure. */
export async function repeat<T>(
  attempt: () => Promise<T>,
  { retries, maySend, signal }: Repeating,
): Promise<T> {
  for (let attempts = 0; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (attempts >= retries || !isUnanswered(error)) throw error;
      await pause(delayBefore(attempts, error), signal);
      if (!(await maySend(error))) throw error;
    }
  }
}
