import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
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
  const first = await openServiceEvents({ folder: join(folder, "one") }, { store: { engine }, log });
  assert.ok(typeof first !== "string");
  const second = await openServiceEvents({ folder: join(folder, "one") }, { store: { engine }, log });
  assert.equal(second, "another service keeps the event log of this database");
  await first.close();
  assert.deepEqual(errors, []);
  const alone = await openServiceEvents({ folder: join(folder, "two") }, { store: undefined, log });
  assert.ok(typeof alone !== "string");
  const late = await openServiceEvents({ folder: join(folder, "two") }, { store: undefined, log });
  assert.equal(late, "another service keeps the event log of this folder");
  await alone.close();
  assert.deepEqual(errors, []);
});

test("the log stays where it is when the ledgers get the folder's own store, and never begins anew unasked", async () => {
  const log = unreadLog().in("wallet.wallet2");
  const place = join(folder, "place");
  const secrets = join(folder, "secrets");
  const named = { engine: createMemoryEngine() };
  const own = { engine: createMemoryEngine(), role: "folder" } as const;
  const add = async (
    where: typeof named | typeof own | undefined,
    events = place,
    acceptsOlder = false,
  ): Promise<number> => {
    const opened = await openServiceEvents({ folder: events, acceptsOlder }, { store: where, log });
    assert.ok(typeof opened !== "string");
    const entry = { source: randomBytes(16), wallet: "w", change: 1, events: [{ type: "wallet_rescan" }] };
    await opened.log.append(entry);
    const { last } = opened.log;
    await opened.close();
    return last;
  };
  assert.equal(await add(undefined), 1);
  assert.equal(await add(own), 2);
  assert.equal(await add({ ...own, role: "leave" } as never), 3);
  // One that a store has which was named begins anew without it only where that is asked for.
  assert.equal(await add(named, secrets), 1);
  await assert.rejects(add(own, secrets), /--store that was named before/);
  assert.equal(await add(named, secrets), 2);
  // Where the store that was named is the folder's own, the log is found in it.
  assert.equal(await add({ engine: named.engine, role: "folder" } as never, secrets), 3);
});
