/** A transaction that was scanned alone, ahead of the blocks, and is in none of them once the scan gets there. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import type { BlocksChange, WalletChange } from "../src/changes.ts";
import { EventDeriver } from "../src/events/deriver.ts";
import type { WalletEvent } from "../src/events/event.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import type { ScannedTransaction } from "../src/state.ts";
import { checkBook } from "./check-book.ts";
import { output, signed, transaction, tx } from "./events-fixture.ts";
import { bytes } from "./many-outputs.ts";
import { createScans, newLedger } from "./scans-fixture.ts";

const END = 30;
const kept = transaction(1, 5, { received: [output(1, 100n)] });
/** Pays twice, and is spent by number 3, of which change comes back. */
const ahead = [
  transaction(2, 20, { received: [output(2, 7n), output(12, 5n, { minor: 2 })] }),
  transaction(3, 21, { received: [output(3, 60n, { minor: 0 })], spends: [1, 2] }),
];

const blocks = (from: number, to: number, ...transactions: readonly ScannedTransaction[]): WalletChange => ({
  ...{ kind: "blocks", fromHeight: from, count: to - from, lastBlockReward: 5n, transactions },
  ids: Array.from({ length: to - from }, () => bytes(32)),
});

type Case = {
  readonly ahead?: readonly ScannedTransaction[];
  readonly chain: readonly WalletChange[];
  readonly refreshFromHeight?: number;
  readonly skipsCoinbase?: boolean;
  readonly before?: readonly WalletChange[];
};

/** The ledger and the events after a scan that has found these blocks; `left` changes are kept before the first crash. */
async function scan(
  { chain, before = [], ...options }: Case,
  left = Number.POSITIVE_INFINITY,
): Promise<{ ledger: Ledger; events: WalletEvent[]; commits: WalletChange[] }> {
  const ledger = newLedger();
  ledger.state.settings.refreshFromHeight = options.refreshFromHeight ?? 0;
  const deriver = await EventDeriver.of(ledger);
  const [events, commits]: [WalletEvent[], WalletChange[]] = [[], []];
  const commit = async (change: WalletChange) => {
    if (left-- === 0) throw new Error("killed");
    commits.push(change);
    events.push(...deriver.observe(change, () => applyChange(ledger, change)));
    checkBook(ledger.state.outputs);
  };
  for (const change of before) await commit(change);
  await commit(blocks(1, 10, kept));
  await commit({ kind: "transactions", transactions: options.ahead ?? ahead });
  const [told, made] = [events.length, commits.length];
  for (let attempt = 0; attempt < 2; attempt++) {
    const thread = createScans(ledger, commit, { skipsCoinbase: options.skipsCoinbase ?? false });
    const end = thread.scans.inTurn(() => thread.scans.refresh(0));
    await thread.whenScanning();
    for (const change of chain) thread.sendBlocks(change);
    thread.receive({ kind: "done", id: 1, pool: undefined });
    const isKilled = await end.then(
      () => false,
      (error: Error) => error.message === "killed",
    );
    if (!isKilled) break;
    left = Number.POSITIVE_INFINITY;
  }
  return { ledger, events: events.slice(told), commits: commits.slice(made) };
}

const seen = ({ state }: Ledger) => ({
  outputs: Array.from(state.outputs, ({ txHash, height, spentHeight }) => [
    toHex(txHash),
    height,
    spentHeight,
  ]),
  receipts: Array.from(state.incoming, ({ txHash, height }) => [toHex(txHash), height]),
  payments: Array.from(state.outgoing.values(), (it) => [toHex(it.txHash), it.state]),
  height: state.height,
});

const withoutIt = {
  outputs: [[tx(1), 5, undefined]],
  receipts: [[tx(1), 5]],
  payments: [],
  height: END,
};

test("it is undone, with what it spends, before the blocks that are without it are kept", async () => {
  const chain = [blocks(10, END)];
  const { ledger, events, commits } = await scan({ chain });
  assert.deepEqual(seen(ledger), withoutIt);
  assert.deepEqual(
    events
      .filter(({ type }) => type !== "payment_confirmed")
      .map(({ type, tx_hash }) => [type, tx_hash])
      .slice(0, 3),
    [
      ["payment_undone", tx(2)],
      ["payment_undone", tx(2)],
      ["transfer_undone", tx(3)],
    ],
  );
  assert.ok(events.slice(0, 2).every(({ reason }) => reason === "reorganisation"));
  assert.equal(commits.length, 2);
  assert.deepEqual([ledger.state.rescanTo, ledger.state.reorganisedFrom], [0, 0]);
  for (let left = 2; left < 4; left++)
    assert.deepEqual(seen((await scan({ chain }, left)).ledger), withoutIt);
});

test("a payment made here that is in no block any more waits again", async () => {
  const before: WalletChange[] = [{ kind: "outgoing", payment: signed(3, 1), txKeys: [bytes(32)] }];
  const { ledger } = await scan({ chain: [blocks(10, END)], before });
  assert.deepEqual(seen(ledger).payments, [[tx(3), "pending"]]);
  assert.deepEqual(
    [...ledger.state.outputs].map(({ pendingSpend }) => pendingSpend),
    [tx(3)],
  );
});

test("it stays where a block has it, and above the blocks that have come", async () => {
  for (const chain of [
    [blocks(10, END, ...ahead)],
    [blocks(10, 20)],
    [blocks(10, 20), blocks(20, END, ...ahead)],
  ]) {
    const { ledger, commits } = await scan({ chain });
    assert.equal(seen(ledger).outputs.length, 4);
    assert.equal(commits.length, chain.length);
  }
});

test("it stays where the blocks are not examined, or the scan leaves out its kind", async () => {
  const chain = [blocks(10, END)];
  const { ledger } = await scan({ chain, refreshFromHeight: 22 });
  assert.equal(seen(ledger).outputs.length, 4);
  const mined = [{ ...ahead[0]!, coinbase: true }];
  for (const skipsCoinbase of [false, true]) {
    const { ledger: other } = await scan({ chain, ahead: mined, skipsCoinbase });
    assert.equal(seen(other).outputs.length, skipsCoinbase ? 3 : 1);
  }
});

test("it stays while the spend secret is away, without which less may be found", async () => {
  const settings = { refreshFromHeight: 0, accounts: 1, addresses: 1, skipsCoinbase: false };
  const before: WalletChange[] = [{ kind: "backgroundBegins", settings }];
  const { ledger, commits } = await scan({ chain: [blocks(10, END)], before });
  assert.deepEqual([seen(ledger).outputs.length, commits.length], [4, 1]);
});

test("it stays where the first part of its block has brought it", async () => {
  const [first, second] = ahead as [ScannedTransaction, ScannedTransaction];
  const id = bytes(32);
  const chain: WalletChange[] = [
    { ...(blocks(10, 20, first) as BlocksChange), partId: id },
    { ...(blocks(20, END, second) as BlocksChange), restOfId: id },
  ];
  const { ledger, commits } = await scan({ chain });
  assert.deepEqual([seen(ledger).outputs.length, seen(ledger).height], [4, END]);
  assert.equal(commits.length, 2);
});

test("it is undone where it is in another block, and found there", async () => {
  const moved = ahead.map((each) => ({ ...each, height: each.height + 5 }));
  const { ledger, events } = await scan({ chain: [blocks(10, 22), blocks(22, END, ...moved)] });
  const { outputs, receipts } = seen(ledger);
  assert.deepEqual(
    outputs.map(([, height]) => height),
    [5, 25, 25, 26],
  );
  assert.deepEqual(
    receipts.map(([, height]) => height),
    [5, 25, 25],
  );
  const types = events.filter(({ tx_hash }) => tx_hash === tx(2)).map(({ type }) => type);
  assert.deepEqual(types.slice(0, 4), [
    "payment_undone",
    "payment_undone",
    "payment_in_block",
    "payment_in_block",
  ]);
});

test("a transaction that depends on another stays", async () => {
  const larger = transaction(2, 20, { received: [output(1, 700n)] });
  const { ledger } = await scan({ chain: [blocks(10, END)], ahead: [larger] });
  assert.deepEqual(
    [...ledger.state.outputs].map(({ amount, height }) => [Number(amount), height]),
    [[700, 20]],
  );
});

test("what a reorganisation undoes by itself takes no other change", async () => {
  const found = transaction(4, 24, { received: [output(4, 1n)] });
  const { ledger, commits } = await scan({
    chain: [
      blocks(10, END, ...ahead, found),
      blocks(22, END + 1, transaction(5, 25, { received: [output(5, 2n)] })),
    ],
  });
  assert.equal(commits.length, 2);
  assert.deepEqual([seen(ledger).receipts.at(-1), seen(ledger).height], [[tx(5), 25], END + 1]);
});
