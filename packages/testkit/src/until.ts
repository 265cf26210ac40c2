import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 25;

/** Asks until it is so; false where it is not so in time. */
export async function until(isSo: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}
