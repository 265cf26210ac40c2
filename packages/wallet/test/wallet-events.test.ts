import assert from "node:assert/strict";
import { test } from "node:test";
import { walletEventTypes } from "@anulo/rpc";
import type { WalletChange } from "../src/changes.ts";
import { EventDeriver } from "../src/events/deriver.ts";
import type { WalletEvent } from "../src/events/event.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger, indexLedger, type Ledger } from "../src/ledger/ledger.ts";
import type { PoolPayment } from "../src/state.ts";
import { blocks, bytes, head, output, signed, transaction, tx, waiting } from "./events-fixture.ts";
import { copyOfState } from "./plain-state.ts";

const newLedger = () => createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });

/** A wallet whose events are derived, and derived again from each earlier state of it: both must be the same. */
class Told {
  readonly ledger: Ledger;
  readonly deriver: EventDeriver;
  readonly seen = new Set<string>();
  /** What was reported before a rescan is not reported again, until the next look at the pool. */
  #rescans = false;

  constructor(ledger: Ledger, deriver: EventDeriver) {
    this.ledger = ledger;
    this.deriver = deriver;
  }

  async change(...changes: WalletChange[]): Promise<WalletEvent[]> {
    const all: WalletEvent[] = [];
    for (const change of changes) {
      const copy = copyOfState(this.ledger.state);
      const again: Ledger = { ...newLedger(), state: copy };
      indexLedger(again);
      const isKnown = copy.rescanTo === 0 && !this.#rescans && !this.deriver.waitsForScan;
      const events = this.deriver.observe(change, () => applyChange(this.ledger, change));
      // What left the pool before is read from the journal again, not from the state.
      if (isKnown) {
        const reopened = (await EventDeriver.of(again)).observe(change, () => applyChange(again, change));
        assert.deepEqual(reopened, events);
      }
      if (change.kind === "reset" || change.kind === "pool") this.#rescans = change.kind === "reset";
      for (const event of events) this.seen.add(event.type);
      for (const event of events) all.push(event);
    }
    return all;
  }

  async types(...changes: WalletChange[]): Promise<string[]> {
    return (await this.change(...changes)).map(({ type }) => type);
  }
}

const paid = (id: number, height: number, key = id) =>
  transaction(id, height, { received: [output(key, 100n)] });
/** The pool after a scan to the tip. */
const scanned = (...payments: PoolPayment[]): WalletChange => ({ kind: "pool", payments, isScanned: true });
const seenTypes = new Set<string>();

function story(name: string, tell: (told: Told) => Promise<void>): void {
  test(name, async () => {
    const ledger = newLedger();
    const told = new Told(ledger, await EventDeriver.of(ledger));
    await tell(told);
    for (const type of told.seen) seenTypes.add(type);
  });
}

story("a payment: pool, block, ten confirmations, unlocked, each once and nothing after", async (told) => {
  const [pool] = await told.change({ kind: "pool", payments: [waiting(1, 100n)] });
  assert.deepEqual(pool, {
    type: "payment_in_pool",
    tx_hash: tx(1),
    subaddr_index: { major: 0, minor: 1 },
    amount: 100n,
    unlock_time: 0n,
    coinbase: false,
  });
  const [mined, ...none] = await told.change(blocks(5, 1, paid(1, 5)));
  assert.deepEqual(
    [mined?.type, mined?.height, mined?.amount, none.length],
    ["payment_in_block", 5, 100n, 0],
  );
  assert.deepEqual(await told.types({ kind: "pool", payments: [] }, blocks(6, 8)), []);
  assert.deepEqual(await told.types(blocks(14, 1)), ["payment_confirmed", "payment_unlocked"]);
  assert.deepEqual(await told.types(blocks(15, 500)), []);
});

story("what is found deep in the chain tells all of it at once", async (told) => {
  assert.deepEqual(await told.types(blocks(1, 1000, paid(1, 5))), [
    "payment_in_block",
    "payment_confirmed",
    "payment_unlocked",
  ]);
});

story("a payment locked until a height, and one until a time", async (told) => {
  const late = transaction(1, 5, { received: [output(1, 7n)], unlockTime: 300n });
  const timed = transaction(2, 5, { received: [output(2, 9n)], unlockTime: 1_900_000_000n });
  await told.change(blocks(5, 1, late, timed));
  assert.deepEqual(await told.types(blocks(6, 100)), ["payment_confirmed", "payment_confirmed"]);
  assert.deepEqual(await told.types(blocks(106, 193)), []);
  const [unlocked] = await told.change(blocks(299, 1));
  assert.deepEqual([unlocked?.type, unlocked?.amount], ["payment_unlocked", 7n]);
  assert.equal(told.deriver.nextTime, 1_900_000_000n);
  assert.deepEqual(await told.types({ kind: "time", seconds: 1_899_999_000 }), []);
  assert.deepEqual(await told.types({ kind: "time", seconds: 1_900_000_001 }), ["payment_unlocked"]);
  assert.equal(told.deriver.nextTime, undefined);
});

story("a double spend in the pool, and a payment that leaves it", async (told) => {
  await told.change({ kind: "pool", payments: [waiting(1, 100n)] });
  assert.deepEqual(await told.types({ kind: "pool", payments: [waiting(1, 100n, true)] }), [
    "payment_double_spent",
  ]);
  assert.deepEqual(await told.types({ kind: "pool", payments: [waiting(1, 100n, true)] }), []);
  assert.deepEqual(await told.types({ kind: "pool", payments: [] }), []);
  assert.deepEqual(await told.types(scanned()), ["payment_dropped"]);
  assert.deepEqual(await told.types(scanned()), []);
});

story("what leaves the pool for a block is not dropped, nor what comes back", async (told) => {
  await told.change({ kind: "pool", payments: [waiting(1, 100n), waiting(2, 100n)] });
  // A look at the pool before the block is scanned.
  assert.deepEqual(await told.types({ kind: "pool", payments: [] }), []);
  assert.equal(told.deriver.waitsForScan, true);
  assert.deepEqual(await told.types(blocks(5, 1, paid(1, 5))), ["payment_in_block"]);
  assert.deepEqual(await told.types({ kind: "pool", payments: [waiting(2, 100n)] }), []);
  assert.equal(told.deriver.waitsForScan, false);
  assert.deepEqual(await told.types(scanned(waiting(2, 100n)), scanned()), []);
  assert.deepEqual(await told.types(scanned()), ["payment_dropped"]);
});

story("what drops while the chain is scanned again is told", async (told) => {
  const pool = [waiting(1, 100n), waiting(2, 100n), waiting(3, 100n)];
  await told.change(blocks(1, 20), { kind: "pool", payments: pool });
  await told.change({ kind: "reset", hard: false }, blocks(1, 10));
  assert.deepEqual(await told.types({ kind: "pool", payments: pool.slice(1) }), []);
  assert.deepEqual(await told.types(blocks(11, 12, paid(2, 21))), ["payment_in_block"]);
  const events = await told.change({ kind: "pool", payments: [] }, scanned());
  assert.deepEqual(
    events.map(({ type, tx_hash }) => [type, tx_hash]),
    [
      ["payment_dropped", tx(3)],
      ["payment_dropped", tx(1)],
    ],
  );
});

story("a reorganisation undoes a payment, which comes back elsewhere, or does not", async (told) => {
  await told.change(blocks(5, 3, paid(1, 5), paid(2, 6)), blocks(8, 10));
  const events = await told.change(blocks(6, 2, paid(2, 7)));
  assert.deepEqual(
    events.map(({ type, height, reason = "" }) => [type, height, reason]),
    [
      ["payment_undone", 6, "reorganisation"],
      ["payment_in_block", 7, ""],
    ],
  );
  // The first one was confirmed and unlocked before, at a greater height.
  assert.deepEqual(await told.types(blocks(8, 8)), []);
  const again = await told.change(blocks(16, 1));
  assert.deepEqual(
    again.map(({ type, tx_hash }) => [type, tx_hash]),
    [
      ["payment_confirmed", tx(2)],
      ["payment_unlocked", tx(2)],
    ],
  );
  assert.deepEqual(await told.types(blocks(7, 1)), ["payment_undone"]);
});

story("a transfer from its intent to what it is final with; its change is no payment", async (told) => {
  await told.change(blocks(5, 20, paid(1, 5)));
  const [planned] = await told.change({ kind: "intent", intent: head });
  assert.deepEqual(planned, { type: "transfer_planned", method: "transfer", idempotency_key: "order 7" });
  const outcome = { kind: "sending", txHashes: [bytes(9)], answer: undefined } as const;
  const [event] = await told.change({
    kind: "intent",
    intent: head,
    outcome,
    payments: [{ payment: signed(9, 1), txKeys: [bytes(77)] }],
  });
  assert.deepEqual(event, {
    type: "transfer_signed",
    tx_hash: tx(9),
    account: 0,
    subaddr_indices: [1],
    amount: 35n,
    fee: 5n,
    change: 60n,
    idempotency_key: "order 7",
  });
  assert.deepEqual(await told.types({ kind: "outgoingState", txHash: tx(9), state: "pending" }), [
    "transfer_sent",
  ]);
  assert.deepEqual(
    await told.types({ kind: "outgoingState", txHash: tx(9), state: "pending", isSeen: true }),
    ["transfer_seen"],
  );
  assert.deepEqual(await told.types({ kind: "outgoingState", txHash: tx(9), state: "missing" }), [
    "transfer_missing",
  ]);
  const back = transaction(9, 25, { spends: [1], received: [output(3, 60n)] });
  const [mined, ...none] = await told.change(blocks(25, 1, back));
  assert.deepEqual([mined?.type, mined?.height, none.length], ["transfer_mined", 25, 0]);
  assert.equal(mined?.idempotency_key, "order 7");
  assert.deepEqual(await told.types(blocks(26, 9)), ["transfer_unlocked"]);
  const [final] = await told.change(blocks(35, 200));
  assert.deepEqual([final?.type, final?.idempotency_key], ["transfer_final", "order 7"]);
});

story("a transfer that is refused, given up, or undone and mined again", async (told) => {
  await told.change(blocks(5, 20, paid(1, 5), paid(2, 5), paid(3, 5)));
  const outcome = { kind: "sending", txHashes: [bytes(8)], answer: undefined } as const;
  const kept = { payment: signed(8, 1), txKeys: [] };
  await told.change({ kind: "intent", intent: head, outcome, payments: [kept] });
  const refused = {
    kind: "refused",
    txHashes: [],
    refusal: "GENERIC_TRANSFER_ERROR",
    message: "no",
  } as const;
  const [failed] = await told.change({ kind: "intent", intent: head, outcome: refused, unsent: [tx(8)] });
  assert.deepEqual([failed?.type, failed?.tx_hash], ["transfer_failed", tx(8)]);
  await told.change({ kind: "outgoing", payment: signed(9, 2), txKeys: [] });
  assert.deepEqual(await told.types({ kind: "outgoingState", txHash: tx(9), state: "failed" }), [
    "transfer_failed",
  ]);
  const mined = (height: number) => transaction(10, height, { spends: [3] });
  await told.change(
    { kind: "outgoing", payment: signed(10, 3), txKeys: [bytes(4)] },
    blocks(25, 1, mined(25)),
  );
  assert.deepEqual(await told.types(blocks(25, 1)), ["transfer_undone"]);
  assert.deepEqual(await told.types(blocks(26, 1, mined(26))), ["transfer_mined"]);
  assert.deepEqual(await told.types(blocks(26, 2, mined(27))), ["transfer_undone", "transfer_mined"]);
});

story("what another copy of the wallet spends is told from the chain alone", async (told) => {
  await told.change(blocks(5, 20, paid(1, 5)));
  const types = await told.types(
    blocks(25, 1, transaction(9, 25, { spends: [1], received: [output(4, 95n)] })),
  );
  assert.deepEqual(types, ["transfer_mined"]);
});

story(
  "a payment to another account of the same wallet is one; to the same account it is change",
  async (told) => {
    await told.change(blocks(5, 20, paid(1, 5)));
    const inside = transaction(9, 25, {
      spends: [1],
      received: [output(4, 30n, { major: 1, minor: 0 }), output(5, 65n)],
    });
    const events = await told.change(blocks(25, 1, inside));
    assert.deepEqual(
      events.map(({ type, amount }) => [type, amount]),
      [
        ["transfer_mined", 30n],
        ["payment_in_block", 30n],
      ],
    );
  },
);

story("a wallet that can't see its spends takes back what turns out to be change", async (told) => {
  await told.change(blocks(5, 1, transaction(1, 5, { received: [output(1, 100n, { isBlind: true })] })));
  const spend = transaction(9, 6, { spends: [1], received: [output(3, 60n, { isBlind: true })] });
  assert.deepEqual(await told.types(blocks(6, 1, spend)), ["payment_in_block"]);
  const events = await told.change({
    kind: "keyImages",
    offset: 0,
    keyImages: [bytes(101)],
    spent: ["chain"],
    transactions: [spend],
  });
  assert.deepEqual(
    events.map(({ type, reason = "" }) => [type, reason]),
    [
      ["payment_undone", "own_change"],
      ["transfer_mined", ""],
    ],
  );
  assert.deepEqual((await told.types(blocks(7, 20))).sort(), [
    "payment_confirmed",
    "payment_unlocked",
    "transfer_unlocked",
  ]);
});

story("what a view-only wallet has sent itself brings change, not a payment", async (told) => {
  await told.change(blocks(5, 1, transaction(1, 5, { received: [output(1, 100n, { isBlind: true })] })));
  await told.change({ kind: "outgoing", payment: signed(9, 1), txKeys: [] });
  const spend = transaction(9, 6, { spends: [1], received: [output(3, 60n, { isBlind: true })] });
  assert.deepEqual(await told.types(blocks(6, 1, spend)), []);
  // Nor is it taken back: by a reorganisation, by key images, by a rescan.
  assert.deepEqual(await told.types(blocks(6, 2, spend)), []);
  const learnt: WalletChange = {
    kind: "keyImages",
    offset: 0,
    keyImages: [bytes(101)],
    spent: ["chain"],
    transactions: [spend],
  };
  assert.deepEqual(await told.types(learnt), ["transfer_mined"]);
  assert.deepEqual(await told.types(blocks(6, 2, spend)), ["transfer_undone", "transfer_mined"]);
});

story("a rescan does not take back change of which nothing was told", async (told) => {
  await told.change(blocks(5, 1, transaction(1, 5, { received: [output(1, 100n, { isBlind: true })] })));
  await told.change({ kind: "outgoing", payment: signed(9, 1), txKeys: [] });
  const spend = transaction(9, 6, { spends: [1], received: [output(3, 60n, { isBlind: true })] });
  await told.change(blocks(6, 1, spend));
  // Another chain, without the spend.
  assert.deepEqual(
    await told.types(
      { kind: "reset", hard: false },
      blocks(1, 10, transaction(1, 5, { received: [output(1, 100n, { isBlind: true })] })),
    ),
    ["wallet_rescan"],
  );
});

story("key images tell no payment between own accounts again", async (told) => {
  await told.change(blocks(5, 1, transaction(1, 5, { received: [output(1, 100n, { isBlind: true })] })));
  const received = [output(4, 35n, { major: 1, minor: 0, isBlind: true }), output(3, 60n, { isBlind: true })];
  const spend = transaction(9, 6, { spends: [1], received });
  assert.deepEqual(await told.types(blocks(6, 1, spend)), ["payment_in_block", "payment_in_block"]);
  const events = await told.change({
    kind: "keyImages",
    offset: 0,
    keyImages: [bytes(101)],
    spent: ["chain"],
    transactions: [spend],
  });
  assert.deepEqual(
    events.map(({ type, amount }) => [type, amount]),
    [
      ["payment_undone", 60n],
      ["transfer_mined", 35n],
    ],
  );
  const later = await told.change(blocks(7, 9));
  assert.deepEqual(
    later.map(({ type, amount }) => [type, amount]),
    [
      ["payment_confirmed", 100n],
      ["payment_unlocked", 100n],
      ["payment_confirmed", 35n],
      ["payment_unlocked", 35n],
      ["transfer_unlocked", 35n],
    ],
  );
});

story("a rescan tells only what it finds anew, and what it no longer finds", async (told) => {
  await told.change({ kind: "pool", payments: [waiting(7, 1n)] });
  await told.change(blocks(5, 100, paid(1, 5), paid(2, 6)), blocks(105, 10, paid(3, 107)));
  const spend = transaction(9, 115, { spends: [1], received: [output(4, 95n)] });
  await told.change(blocks(115, 1, spend));
  assert.deepEqual(await told.types({ kind: "reset", hard: false }), ["wallet_rescan"]);
  const events = await told.change(
    blocks(1, 50, paid(1, 5), paid(5, 20)),
    blocks(51, 60, paid(3, 107)),
    blocks(111, 5, spend),
  );
  assert.deepEqual(
    events.map(({ type, tx_hash }) => [type, tx_hash]),
    [
      ["payment_in_block", tx(5)],
      ["payment_confirmed", tx(5)],
      ["payment_unlocked", tx(5)],
      ["payment_undone", tx(2)],
    ],
  );
  assert.deepEqual(await told.types({ kind: "pool", payments: [waiting(7, 1n)] }), []);
  assert.deepEqual(await told.types(blocks(116, 1)), ["payment_confirmed", "payment_unlocked"]);
  assert.deepEqual(await told.types(blocks(117, 100)), ["transfer_unlocked", "transfer_final"]);
});

story("blocks that are scanned again without a reorganisation tell nothing", async (told) => {
  await told.change(blocks(5, 10, paid(1, 5), paid(2, 8)));
  assert.deepEqual(await told.types(blocks(6, 0), blocks(6, 9, paid(2, 8))), []);
  assert.deepEqual(await told.types(blocks(15, 3)), ["payment_confirmed", "payment_unlocked"]);
});

story("a new source says where it begins", async (told) => {
  await told.change(blocks(1, 40));
  assert.deepEqual(await told.change({ kind: "eventSource", source: bytes(1).subarray(16) }), [
    { type: "events_started", height: 41 },
  ]);
});

test("every type has been told, and none names a key or a secret", () => {
  assert.deepEqual([...seenTypes].sort(), [...walletEventTypes].sort());
});
