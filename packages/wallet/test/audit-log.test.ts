/** What is written to the event log of what tokens are used for. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type EventLog, openEventLog } from "@anulo/events";
import { silent } from "@anulo/rpc";
import { createMemoryEngine, StoreUnavailable } from "@anulo/store";
import { AuditLog } from "../src/access/audit-log.ts";

async function start(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "anulo-audit-"));
  const events = await openEventLog({ engine: createMemoryEngine(), key: new Uint8Array(32), folder });
  t.after(async () => {
    await events.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return events;
}

const idOf = (i: number) => i.toString(16).padStart(64, "0");
const partsOf = (events: EventLog) => ({ events, log: silent, now: () => 1, retryMs: 1 });

test("every transaction that a token has sent is told, however many one payment has", async (t) => {
  const events = await start(t);
  const audit = new AuditLog(partsOf(events));
  const txHashes = Array.from({ length: 5000 }, (_, i) => idOf(i));
  audit.spent("t", "w", { amount: 7n, txHashes });
  audit.spent("t", "w", { amount: 8n, txHashes: [idOf(1)] });
  audit.spent("t", "w", { amount: undefined, txHashes: [] });
  await audit.close();
  const { events: told } = await events.read({ after: 0, limit: 1000 });
  assert.deepEqual(
    told.flatMap(({ tx_hashes }) => tx_hashes as string[]),
    [...txHashes, idOf(1)],
  );
  const amounts = told.flatMap(({ amount }) => (amount === undefined ? [] : [amount]));
  assert.deepEqual(amounts, [7n, 8n], "an amount is told once");
  const { parts } = told[0]!;
  assert.deepEqual(
    told.map(({ part }) => part),
    [...Array.from({ length: Number(parts) }, (_, i) => i + 1), undefined, undefined],
  );
});

test("a log that can't be written for a while is told in order once it can", async (t) => {
  const events = await start(t);
  let failures = 3;
  const failing: Pick<EventLog, "ended" | "cursorOf" | "append"> = {
    ended: events.ended,
    cursorOf: (source) => events.cursorOf(source),
    append: async (entry) => {
      if (failures-- > 0) throw new StoreUnavailable("away");
      await events.append(entry);
    },
  };
  const audit = new AuditLog(partsOf(failing as EventLog));
  for (let i = 1; i <= 3; i++) audit.spent("t", "w", { amount: BigInt(i), txHashes: [idOf(i)] });
  await events.waitForEvent(2, AbortSignal.timeout(300_000));
  await audit.close();
  const { events: told } = await events.read({ after: 0, limit: 10 });
  assert.deepEqual(
    told.map(({ amount }) => amount),
    [1n, 2n, 3n],
  );
});

test("closing gives up what can't be written, after what could be", async (t) => {
  const events = await start(t);
  const failing = {
    ended: events.ended,
    cursorOf: () => events.cursorOf(new Uint8Array(16)),
    append: async () => {
      throw new StoreUnavailable("away");
    },
  };
  const audit = new AuditLog({ ...partsOf(failing as unknown as EventLog), retryMs: 3_600_000 });
  audit.spent("t", "w", { amount: 1n, txHashes: [idOf(1)] });
  await audit.close();
  assert.equal(events.last, 0);
});
