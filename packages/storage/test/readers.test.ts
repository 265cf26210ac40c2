import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { type Environment, openEnvironment } from "../src/environment.ts";
import { createFlusher } from "../src/flusher.ts";
import { parseSyncMode } from "../src/sync-mode.ts";
import { bytesOf } from "./sample-blocks.ts";
import { waitingTransaction } from "./waiting-transaction.ts";

// A reader that is never let go keeps LMDB from using freed pages again, so that the file grows for ever.

function open(t: TestContext): { environment: Environment; path: string } {
  const folder = mkdtempSync(join(tmpdir(), "anulo-readers-"));
  const path = join(folder, "chain.mdb");
  const environment = openEnvironment(path);
  t.after(async () => {
    await environment.root.close();
    rmSync(folder, { recursive: true });
  });
  return { environment, path };
}

/** The states (numbers of commits) that readers hold, once LMDB has let go of those that are done. */
async function statesHeld({ root }: Environment): Promise<number[]> {
  const list = () => (root as unknown as { readerList(): string }).readerList();
  for (let i = 0; i < 20; i++) await setImmediate();
  return [...list().matchAll(/^ *\d+ [0-9a-f]+ (\d+)$/gm)].map(([, state]) => Number(state));
}

const write = ({ root, tables }: Environment, name: string) =>
  root.transactionSync(() => tables.poolTransactions.put(bytesOf(name), waitingTransaction(100)));

test("a write in turns holds the state before it until it is over, and no longer", async (t) => {
  const { environment } = open(t);
  write(environment, "first");
  let heldMeanwhile = 0;
  await environment.longWrite.run(
    (function* () {
      yield;
      if (environment.longWrite.before === undefined) heldMeanwhile++;
      yield;
    })(),
    () => {},
  );
  assert.equal(heldMeanwhile, 1);
  await setImmediate();
  assert.deepEqual(await statesHeld(environment), []);
});

test("a flusher holds the state that is on disk alone, and none once it is closed", async (t) => {
  const { environment, path } = open(t);
  const mode = parseSyncMode("safe");
  const onFault = (fault: Error) => assert.fail(fault);
  const flusher = createFlusher({ environment, path, mode, onFault });
  for (const name of ["first", "second", "third"]) {
    write(environment, name);
    flusher.written({ blocks: 1, bytes: 100 });
    await flusher.flush();
  }
  assert.equal((await statesHeld(environment)).length, 1);
  await flusher.close();
  assert.deepEqual(await statesHeld(environment), []);
});
