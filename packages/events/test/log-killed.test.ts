import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { LoggedEvent } from "../src/index.ts";
import { allEvents, lmdbPlace, openLog, source } from "./harness.ts";

const KILLS = 5;
const SOURCES = 3;

/** Runs the writer until it has told of so many changes, and kills it; returns the last change of each source it told of. */
async function runAndKill(folder: string, changes: number): Promise<Map<number, number>> {
  const program = fileURLToPath(new URL("./append-forever.js", import.meta.url));
  const child = spawn(process.execPath, [program, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const told = new Map<number, number>();
  const exited = once(child, "exit");
  let count = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [number, change] = line.split(" ").map(Number);
    told.set(number!, change!);
    if (++count === changes) child.kill("SIGKILL");
  }
  assert.deepEqual(await exited, [null, "SIGKILL"]);
  return told;
}

/** Each source's events once and in order, whole changes up to its cursor. */
function checkSource(events: readonly LoggedEvent[], number: number): void {
  const own = events.filter(({ wallet }) => wallet === `w${number}`).map(({ change, i }) => [change, i]);
  const sorted = [...own].sort(([a, i], [b, j]) => Number(a) - Number(b) || Number(i) - Number(j));
  assert.deepEqual(own, sorted);
  assert.equal(new Set(own.map(String)).size, own.length, "something is told twice");
  for (const [at, [change, i]] of own.entries()) {
    if (i !== 0) assert.deepEqual(own[at - 1], [change, Number(i) - 1]);
  }
}

test("a log killed at any moment has all that was told, once, numbered without gaps", async () => {
  const place = lmdbPlace();
  const root = place.folder.slice(0, place.folder.lastIndexOf("/"));
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      const told = await runAndKill(root, 1 + 37 * kill);
      const log = await openLog(place);
      const events = await allEvents(log);
      assert.deepEqual(
        events.map(({ sequence }) => sequence),
        Array.from({ length: log.last }, (_, i) => i + 1),
      );
      for (let number = 0; number < SOURCES; number++) {
        assert.ok(((await log.cursorOf(source(number))) ?? 0) >= (told.get(number) ?? 0));
        checkSource(events, number);
      }
      await log.close();
    }
  } finally {
    await place.stop();
  }
});
