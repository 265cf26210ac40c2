/** What a reset remembers of reported payments is read in steps before it, while the wallet goes on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { WalletChange } from "../src/changes.ts";
import { EventDeriver } from "../src/events/deriver.ts";
import type { WalletEvent } from "../src/events/event.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";
import { blocks, output, signed, transaction, tx, waiting } from "./events-fixture.ts";
import { largeLedger } from "./large-history.ts";

type Told = { readonly ledger: Ledger; readonly deriver: EventDeriver };

const tell = ({ ledger, deriver }: Told, change: WalletChange): WalletEvent[] =>
  deriver.observe(change, () => applyChange(ledger, change));

const reset: WalletChange = { kind: "reset", hard: false };
const scanned = (...payments: ReturnType<typeof waiting>[]): WalletChange => ({
  kind: "pool",
  payments,
  isScanned: true,
});

/** Receipts 1 to 8 in blocks 11 to 18; number 2 is spent by number 20, sent here, with change. */
const found = [1, 2, 3, 4, 5, 6, 7, 8].map((id) =>
  transaction(id, 10 + id, { received: [output(id, BigInt(id))] }),
);
const spending = transaction(20, 19, { received: [output(40, 60n, { minor: 0 })], spends: [2] });

async function wallet(): Promise<Told> {
  const ledger = createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
  const told = { ledger, deriver: await EventDeriver.of(ledger) };
  tell(told, { kind: "outgoing", payment: signed(20, 2), txKeys: [] });
  tell(told, blocks(1, 30, ...found, spending));
  tell(told, scanned(waiting(30, 5n), waiting(31, 6n)));
  return told;
}

/** Changes that may come while a reset is prepared, each of which touches what it remembers. */
const meanwhile: readonly WalletChange[] = [
  // What was taken for a receipt turns out to be change of a payment that another program has made.
  { kind: "outgoing", payment: { ...signed(5, 3), account: 0 }, txKeys: [] },
  { kind: "outgoing", payment: signed(21, 7), txKeys: [] },
  { kind: "discardOutgoing", txHash: tx(21) },
  { kind: "pool", payments: [waiting(31, 6n), waiting(32, 7n)] },
  blocks(31, 1, transaction(9, 31, { received: [output(9, 9n)] })),
  // A reorganisation removes receipts: what was read is read again.
  blocks(18, 20, transaction(8, 19, { received: [output(8, 8n)] })),
];

/** The events of a rescan that finds everything again but numbers 3 and 31. */
function rescan(told: Told): WalletEvent[] {
  const end = told.ledger.state.rescanTo;
  const again = found.filter(({ txHash, height }) => txHash[0] !== 3 && height < 18);
  return [
    ...tell(told, blocks(1, 17, ...again)),
    ...tell(told, blocks(18, end + 10 - 18)),
    ...tell(told, scanned(waiting(32, 7n))),
    ...tell(told, scanned()),
  ];
}

test("a reset remembers the same, whether it was read at once or in steps between other changes", async () => {
  for (let first = 0; first <= 14; first++)
    for (let gap = 0; gap < 4; gap++) {
      const [atOnce, inSteps] = [await wallet(), await wallet()];
      const steps = inSteps.deriver.prepareReset();
      for (let i = 0; i < first; i++) steps.next();
      for (const change of meanwhile) {
        assert.deepEqual(tell(inSteps, change), tell(atOnce, change));
        for (let i = 0; i < gap; i++) steps.next();
      }
      assert.deepEqual(tell(inSteps, reset), tell(atOnce, reset));
      assert.deepEqual(rescan(inSteps), rescan(atOnce), `after ${first} steps, then every ${gap}`);
    }
});

test("where what was told before a rescan is not known any more, its end says that the wallet is to be looked up", async () => {
  const { ledger, deriver } = await wallet();
  tell({ ledger, deriver }, reset);
  const end = ledger.state.rescanTo;
  tell({ ledger, deriver }, blocks(1, 17, ...found.slice(0, 2)));
  // The service ends, and begins again with the rows of its store.
  const again = { ledger, deriver: await EventDeriver.of(ledger) };
  assert.deepEqual(tell(again, blocks(18, end - 1 - 18)), []);
  assert.deepEqual(tell(again, blocks(end - 1, 1)), [{ type: "events_started", height: end }]);
  const types = tell(again, blocks(end, 1, transaction(9, end, { received: [output(9, 9n)] })));
  assert.deepEqual(
    types.map(({ type }) => type),
    ["payment_in_block"],
  );
});

test("a rescan tells only of what has changed, also where it begins once more amid it", async () => {
  for (const isTwice of [false, true]) {
    const told = await wallet();
    assert.deepEqual(tell(told, reset), [{ type: "wallet_rescan", height: 31, hard: false }]);
    if (isTwice) {
      assert.deepEqual(tell(told, blocks(1, 14, ...found.slice(0, 2))), []);
      assert.deepEqual(tell(told, reset), [{ type: "wallet_rescan", height: 15, hard: false }]);
    }
    const again = [...found.filter(({ txHash }) => txHash[0] !== 3), spending];
    const ids = (events: readonly WalletEvent[]) => events.map(({ type, tx_hash }) => [type, tx_hash]);
    assert.deepEqual(ids(tell(told, blocks(1, 30, ...again))), [["payment_undone", tx(3)]]);
    const late = blocks(31, 1, transaction(30, 31, { received: [output(30, 5n)] }));
    assert.deepEqual(ids(tell(told, late)), [["payment_in_block", tx(30)]]);
    assert.deepEqual(ids(tell(told, scanned())), []);
    assert.deepEqual(ids(tell(told, scanned())), [["payment_dropped", tx(31)]]);
  }
});

test("a payment in a block that the pool's list still has is told once", async () => {
  const told = await wallet();
  const mined = blocks(31, 1, transaction(30, 31, { received: [output(30, 5n)] }));
  assert.deepEqual(
    tell(told, mined).map(({ type }) => type),
    ["payment_in_block"],
  );
  tell(told, reset);
  const again = transaction(30, 31, { received: [output(30, 5n)] });
  assert.deepEqual(tell(told, blocks(1, 31, ...found, spending, again)), []);
});

test("a prepared reset reads no payment, and each of its steps few", async () => {
  const ledger = largeLedger({ receipts: 3000, payments: 300 });
  const { incoming, outgoing } = ledger.state;
  const told = { ledger, deriver: await EventDeriver.of(ledger) };
  const reads = () => incoming.reads + outgoing.reads;
  let [before, most, count] = [reads(), 0, 0];
  for (const _ of told.deriver.prepareReset()) {
    [before, most, count] = [reads(), Math.max(most, reads() - before), count + 1];
  }
  assert.ok(most <= 3 && count >= 3300, `${most} reads in one of ${count} steps`);
  before = reads();
  tell(told, reset);
  assert.ok(reads() - before <= 3, `${reads() - before} were read`);
  assert.deepEqual(incoming.length, 0);
  const time: WalletChange = { kind: "time", seconds: 0 };
  const undone = tell(told, blocks(1, 400));
  for (let changes = 1; told.deriver.lost.hasMore; changes++) {
    assert.equal(undone.length, 500 * changes);
    undone.push(...tell(told, time));
  }
  assert.equal(new Set(undone.map(({ tx_hash }) => tx_hash)).size, 3000);
  assert.ok(undone.every(({ type }) => type === "payment_undone"));
});

test("what is not found again is told before anything that comes into a block, or is forgotten", async () => {
  const ledger = largeLedger({ receipts: 1200, payments: 0 });
  const [again] = ledger.state.incoming;
  const end = ledger.state.height;
  const changes: readonly WalletChange[] = [
    blocks(end, 1, transaction(1, end, { received: [output(1, 5n)] })),
    { kind: "transactions", transactions: [transaction(1, end, { received: [output(1, 5n)] })] },
    reset,
  ];
  for (const change of changes) {
    const copy = largeLedger({ receipts: 1200, payments: 0 });
    const told = { ledger: copy, deriver: await EventDeriver.of(copy) };
    tell(told, reset);
    const first = tell(told, blocks(1, end - 1));
    const rest = tell(told, change);
    assert.deepEqual([first.length, rest.length, told.deriver.lost.hasMore], [500, 701, false]);
    assert.deepEqual(
      rest.map(({ type }) => type === "payment_undone"),
      rest.map((_, i) => i < 700),
    );
    assert.equal(first[0]!.height, again!.height);
  }
});

test("a payment that scanning again did not find, and a second time neither, is undone once", async () => {
  const ledger = largeLedger({ receipts: 1200, payments: 0 });
  const told = { ledger, deriver: await EventDeriver.of(ledger) };
  const end = ledger.state.height;
  const undone: WalletEvent[] = [];
  for (let round = 0; round < 2; round++) {
    tell(told, reset);
    undone.push(...tell(told, blocks(1, end - 1)), ...tell(told, scanned()));
    while (told.deriver.lost.hasMore) undone.push(...tell(told, { kind: "time", seconds: 0 }));
  }
  assert.equal(undone.length, 1200);
});
