import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { WalletChange } from "../src/changes.ts";
import { createWalletService } from "../src/create-service.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { LongScans } from "../src/scan/long-scans.ts";
import { blocks } from "./events-fixture.ts";
import { createScans, newLedger } from "./scans-fixture.ts";

test("long scans are reported when the first begins and when the last ends", () => {
  const changes: boolean[] = [];
  const scans = new LongScans((isUnderWay) => changes.push(isUnderWay));
  const [first, second, short] = [{}, {}, {}];
  scans.note(short, 199);
  scans.end(short);
  assert.deepEqual(changes, []);
  scans.note(first, 200);
  scans.note(first, 100);
  scans.note(second, 5000);
  assert.deepEqual(changes, [true]);
  scans.end(first);
  scans.end(first);
  assert.deepEqual(changes, [true]);
  scans.end(second);
  assert.deepEqual(changes, [true, false]);
});

/** Scans whose changes take a turn to be written, and what they report. */
function createReporting() {
  const [ledger, changes]: [ReturnType<typeof newLedger>, boolean[]] = [newLedger(), []];
  const commit = async (change: WalletChange) => {
    applyChange(ledger, change);
    await setImmediate();
  };
  const onLongScan = (isUnderWay: boolean) => changes.push(isUnderWay);
  return { ledger, changes, ...createScans(ledger, commit, { skipsCoinbase: false, onLongScan }) };
}

const done = { kind: "done", id: 1, pool: undefined } as const;

test("a wallet with many blocks before it reports a long scan until it has scanned them", async () => {
  const { changes, scans, sendBlocks, receive, whenScanning } = createReporting();
  const scan = scans.inTurn(() => scans.refresh(0));
  await whenScanning();
  sendBlocks(blocks(1, 150), 201);
  await setImmediate();
  while (changes.length === 0) await setImmediate();
  assert.deepEqual(changes, [true]);
  sendBlocks(blocks(151, 50), 201);
  receive(done);
  await scan;
  assert.deepEqual(changes, [true, false]);
});

test("a wallet with few blocks before it reports nothing", async () => {
  const { changes, ledger, scans, sendBlocks, receive, whenScanning } = createReporting();
  const scan = scans.inTurn(() => scans.refresh(0));
  await whenScanning();
  sendBlocks(blocks(1, 199), 200);
  receive(done);
  await scan;
  assert.equal(ledger.state.height, 200);
  assert.deepEqual(changes, []);
});

test("blocks that are stored after their scan has ended don't begin another", async () => {
  const { changes, ledger, scans, sendBlocks, endThread, whenScanning } = createReporting();
  const scan = assert.rejects(
    scans.inTurn(() => scans.refresh(0)),
    /the scan thread ended/,
  );
  await whenScanning();
  for (let part = 0; part < 3; part++) sendBlocks(blocks(1 + 10 * part, 10), 1000);
  while (changes.length === 0) await setImmediate();
  endThread();
  await scan;
  assert.deepEqual(changes, [true, false]);
  while (ledger.state.height < 31) await setImmediate();
  assert.deepEqual(changes, [true, false]);
});

test("a service reports the long scans of its wallets, whose time is the system's, not that of its own clock", async (t) => {
  const changes: boolean[] = [];
  const service = await createWalletService({
    listen: [{ host: "127.0.0.1", port: 0 }],
    daemon: { url: "" },
    clock: () => 5,
    onLongScan: (isUnderWay) => changes.push(isUnderWay),
  });
  t.after(() => service.stop());
  const { longScans, clock } = service.runtime;
  longScans.note(service, 1000);
  longScans.end(service);
  assert.deepEqual(changes, [true, false]);
  const before = Math.floor(Date.now() / 1000);
  const time = clock();
  assert.ok(before <= time && time <= Math.floor(Date.now() / 1000));
});
