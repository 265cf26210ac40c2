import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";

/** Asks until it is so, for five minutes at most: sockets answer when they do. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; !(await isSo()); i++) {
    assert.ok(i < 6000, "not within five minutes");
    await delay(50);
  }
}
