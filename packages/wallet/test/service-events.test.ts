import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { unreadLog } from "@anulo/rpc";
import { createMemoryEngine } from "@anulo/store";
import { openServiceEvents } from "../src/service-events.ts";

const folder = mkdtempSync(join(tmpdir(), "anulo-service-events-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("a stop is no failure of the log; who comes second hears what is taken", async () => {
  const engine = createMemoryEngine();
  const errors: string[] = [];
  const log = {
    ...unreadLog().in("wallet.wallet2"),
    error: (message: string) => void errors.push(message),
  };
  const first = await openServiceEvents({ folder: join(folder, "one") }, { engine, log });
  assert.ok(typeof first !== "string");
  const second = await openServiceEvents({ folder: join(folder, "one") }, { engine, log });
  assert.equal(second, "another service keeps the event log of this database");
  await first.close();
  assert.deepEqual(errors, []);
  const alone = await openServiceEvents({ folder: join(folder, "two") }, { engine: undefined, log });
  assert.ok(typeof alone !== "string");
  const late = await openServiceEvents({ folder: join(folder, "two") }, { engine: undefined, log });
  assert.equal(late, "another service keeps the event log of this folder");
  await alone.close();
  assert.deepEqual(errors, []);
});
