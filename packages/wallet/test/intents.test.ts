import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { toHex } from "@anulo/protocol";
import { wallet as declared, type ParamsOf } from "@anulo/rpc";
import { type Plain, readCbor, writeCbor } from "../src/cbor.ts";
import { encodeChange } from "../src/encode-change.ts";
import { backgroundCopy } from "../src/file/background-copy.ts";
import { DamagedJournal, Journal } from "../src/file/journal.ts";
import { createStore, openStore } from "../src/file/store.ts";
import { askedBy } from "../src/intents/asked.ts";
import { packAnswer, unpackAnswer } from "../src/intents/packed.ts";
import { progressOf } from "../src/intents/progress.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";
import type { IntentHead, OutgoingPayment, ScannedTransaction } from "../src/state.ts";
import { turnsDuring } from "./event-loop-turns.ts";

const folder = mkdtempSync(join(tmpdir(), "anulo-intents-"));
after(() => rmSync(folder, { recursive: true }));
const settings = { seedLanguage: "English", refreshFromHeight: 0 };
const secret = new Uint8Array(32).fill(7);
const id = (number: number): Uint8Array => new Uint8Array(32).fill(number);

const { transfer, transferSplit } = declared.transfers;
type Params = ParamsOf<typeof transfer>;
const read = (params: object): Params =>
  transfer.params.read(JSON.parse(JSON.stringify(params)), { of: "request" });
const destinations = [{ address: "a", amount: 5 }];
const digestOf = async (params: object) =>
  toHex((await askedBy(transfer, read({ ...params, idempotency_key: "key" }))).digest);

test("the same params are the same call however they are written, and any other is another call", async () => {
  const digest = await digestOf({ destinations });
  const same = [
    { destinations, priority: 0, unlock_time: 0, get_tx_hex: false, subaddr_indices: [] },
    { destinations: [{ amount: "5", address: "a" }], unknown: 1 },
    { priority: null, destinations },
  ];
  for (const params of same) assert.equal(await digestOf(params), digest);
  const others = [
    { destinations: [{ address: "a", amount: 6 }] },
    { destinations: [...destinations, ...destinations] },
    { destinations, priority: 1 },
    { destinations, get_tx_key: true },
    { destinations, subaddr_indices: [0] },
  ];
  const digests = await Promise.all(others.map(digestOf));
  assert.equal(new Set([digest, ...digests]).size, others.length + 1);
  const split = transferSplit.params.read({ destinations, idempotency_key: "key" } as never, {
    of: "request",
  });
  assert.notEqual(toHex((await askedBy(transferSplit, split)).digest), digest);
  const { digest: none } = await askedBy(transfer, read({ destinations }));
  assert.equal(none.length, 0, "without a key none is needed");
});

test("a call has the digest with which earlier versions have stored it", async () => {
  const two = [...destinations, { address: 'a "name"\ud800', amount: 7 }];
  const params = [
    ["destinations", '[{"address":"a","amount":"5"},{"address":"a \\"name\\"\\ud800","amount":"7"}]'],
    ["get_tx_key", "true"],
    ["subaddr_indices", "[3,1]"],
  ];
  const digest = createHash("sha256")
    .update(JSON.stringify(["transfer", params]))
    .digest("hex");
  const request = { subaddr_indices: [3, 1], get_tx_key: true, destinations: two, idempotency_key: "key" };
  const names = Object.entries(read(request));
  for (const order of [names, names.toReversed()]) {
    const asked = await askedBy(transfer, Object.fromEntries(order) as Params);
    assert.equal(toHex(asked.digest), digest);
  }
});

test("the digest of many destinations is computed in turns of the event loop", async () => {
  const many = Array.from({ length: 20_000 }, (_, i) => ({ address: `a${i}`, amount: i }));
  const params = read({ destinations: many, idempotency_key: "key" });
  assert.ok((await turnsDuring(() => askedBy(transfer, params))) > 1);
});

test("amounts beyond what a double holds are told apart", async () => {
  const of = async (amount: bigint) => {
    const params = {
      ...read({ destinations }),
      destinations: [{ address: "a", amount }],
      idempotency_key: "k",
    };
    return toHex((await askedBy(transfer, params)).digest);
  };
  assert.notEqual(await of(9_007_199_254_740_992n), await of(9_007_199_254_740_993n));
});

test("an answer is kept whole", async () => {
  const answer = {
    amount: 2n ** 64n - 1n,
    weight: 1500,
    tx_hash: "5c".repeat(32),
    none: undefined,
    list: ["a", ""],
  };
  assert.deepEqual(await unpackAnswer(await packAnswer(answer)), answer);
});

const head = (key: string): IntentHead => ({ key, asked: secret, method: "transfer", createdAt: 1 });

function payment(number: number, changes: Partial<OutgoingPayment> = {}): OutgoingPayment {
  return {
    txHash: id(number),
    state: "signed",
    blob: id(1),
    amountIn: 50n,
    amountOut: 49n,
    change: 0n,
    destinations: [],
    paymentId: new Uint8Array(32),
    account: 0,
    subaddressIndices: [0],
    keyImages: [id(200)],
    unlockTime: 0n,
    createdAt: 1,
    timestamp: 1,
    height: 0,
    ...changes,
  };
}

const scanned = (
  number: number,
  height: number,
  changes: Partial<ScannedTransaction>,
): ScannedTransaction => ({
  txHash: id(number),
  coinbase: false,
  height,
  timestamp: height,
  unlockTime: 0n,
  fee: 1n,
  publicAmountOut: 0n,
  txSize: 0,
  paymentId: new Uint8Array(32),
  received: [],
  inputs: [],
  ...changes,
});

function blocks(
  ledger: Ledger,
  fromHeight: number,
  count: number,
  transactions: ScannedTransaction[] = [],
): void {
  const ids = Array.from({ length: count }, (_, i) => id((fromHeight + i) % 256));
  applyChange(ledger, { kind: "blocks", fromHeight, count, ids, lastBlockReward: 0n, transactions });
}

/** A wallet with one output, whose key image is spent by a payment that was kept and is to be sent. */
function paying(): { ledger: Ledger; state: () => string; heights: () => number[] } {
  const ledger = createLedger("regtest", settings);
  const output = {
    outputIndex: 0,
    globalIndex: 0n,
    amount: 50n,
    mask: id(1),
    rct: true,
    oneTimeKey: id(100),
    txPublicKey: id(101),
    keyImage: id(200),
    subaddress: { major: 0, minor: 0 },
  };
  blocks(ledger, 1, 1, [scanned(1, 1, { received: [output] })]);
  const outcome = { kind: "sending", txHashes: [id(9)], answer: undefined } as const;
  const payments = [{ payment: payment(9), txKeys: [id(3)] }];
  applyChange(ledger, { kind: "intent", intent: head("key"), outcome, payments });
  const progress = () =>
    progressOf(ledger.state.intents[0]!, {
      state: ledger.state,
      outputOf: (image) => ledger.state.outputs.withImage(image),
    });
  return {
    ledger,
    state: () => progress().state,
    heights: () => progress().transactions.map(({ height }) => height),
  };
}

const spending = { inputs: [{ keyImage: id(200), amount: 0n }] };

test("a payment goes from signed to final, and back where its block is undone", () => {
  const { ledger, state, heights } = paying();
  const now = (to: "pending" | "missing" | "failed", isSeen?: boolean) =>
    applyChange(ledger, {
      kind: "outgoingState",
      txHash: toHex(id(9)),
      state: to,
      ...(isSeen !== undefined && { isSeen }),
    });
  assert.equal(state(), "signed");
  now("pending");
  assert.equal(state(), "sent");
  now("pending", true);
  assert.equal(state(), "seen");
  now("missing");
  assert.equal(state(), "sent");
  now("failed");
  assert.equal(state(), "sent", "given up is not proven");
  blocks(ledger, 2, 1, [scanned(9, 2, spending)]);
  assert.deepEqual([state(), heights()], ["mined", [2]]);
  blocks(ledger, 3, 98);
  assert.equal(state(), "mined");
  blocks(ledger, 101, 1);
  assert.equal(state(), "final");
  blocks(ledger, 2, 0);
  assert.deepEqual([state(), heights()], ["seen", [0]]);
});

test("a payment is abandoned once what it spends is spent otherwise, for good", () => {
  const { ledger, state } = paying();
  blocks(ledger, 2, 1, [scanned(8, 2, spending)]);
  assert.equal(state(), "signed");
  blocks(ledger, 3, 98);
  assert.equal(state(), "signed");
  blocks(ledger, 101, 1);
  assert.equal(state(), "abandoned");
});

test("what a node alone says is spent abandons nothing", () => {
  const { ledger, state } = paying();
  blocks(ledger, 2, 150);
  applyChange(ledger, { kind: "spent", status: [[toHex(id(200)), "chain"]] });
  assert.equal(state(), "signed");
});

test("an undone payment made here stays, whether or not its keys and destinations are kept", () => {
  const ledger = createLedger("regtest", settings);
  blocks(ledger, 1, 1);
  applyChange(ledger, {
    kind: "outgoing",
    payment: payment(9, { state: "confirmed", height: 2 }),
    txKeys: [],
  });
  blocks(ledger, 2, 1);
  blocks(ledger, 2, 0);
  assert.equal(ledger.state.outgoing.get(toHex(id(9)))?.state, "pending");
});

test("what was planned, signed, refused and handed out is there when the wallet is opened again", async () => {
  const options = { path: join(folder, "reopened"), secret, network: "regtest" } as const;
  const ledger = createLedger("regtest", settings);
  const log = await createStore(options, ledger);
  const answer = await packAnswer({ tx_hash: "5c" });
  const changes = [
    { kind: "intent", intent: head("planned") },
    {
      kind: "intent",
      intent: head("sent"),
      outcome: { kind: "sending", txHashes: [id(1)], answer },
      payments: [{ payment: payment(1), txKeys: [id(2)] }],
    },
    {
      kind: "intent",
      intent: head("refused"),
      outcome: { kind: "sending", txHashes: [id(3), id(4)], answer },
      payments: [
        { payment: payment(3, { keyImages: [id(203)] }), txKeys: [] },
        { payment: payment(4, { keyImages: [id(204)] }), txKeys: [] },
      ],
    },
    {
      kind: "intent",
      intent: head("refused"),
      outcome: { kind: "refused", txHashes: [id(3)], refusal: "GENERIC_TRANSFER_ERROR", message: "no" },
      unsent: [toHex(id(4))],
    },
    {
      kind: "intent",
      intent: head("handed out"),
      outcome: { kind: "handedOut", txHashes: [], answer },
    },
  ] as const;
  for (const change of changes) {
    applyChange(ledger, change);
    await log.append(change);
  }
  await log.close();
  for (let opening = 0; opening < 2; opening++) {
    const again = await openStore(options, settings);
    assert.deepEqual(again.ledger.state.intents, ledger.state.intents);
    assert.deepEqual([...again.ledger.intentPlaces], [...ledger.intentPlaces]);
    assert.deepEqual([...again.ledger.state.outgoing.keys()], [toHex(id(1)), toHex(id(3))]);
    assert.deepEqual(again.ledger.state.txKeys.get(toHex(id(1))), [id(2)]);
    await again.log.close();
    // The second time from a picture of the state.
    await (await createStore(options, again.ledger)).close();
  }
  assert.equal(ledger.state.intents.length, 4);
  const scan = { refreshFromHeight: 0, accounts: 1, addresses: 1, skipsCoinbase: false };
  assert.deepEqual(backgroundCopy(ledger.state, scan).intents, []);
});

test("a journal from before intents opens, and is no longer one of that version afterwards", async () => {
  const options = { path: join(folder, "older"), secret, network: "regtest" } as const;
  const { intents: _, outputs, incoming, outgoing, ...others } = createLedger("regtest", settings).state;
  assert.deepEqual([outputs.count, incoming.length, outgoing.size], [0, 0, 0]);
  const txKeys = new Map([[toHex(id(5)), [id(6), id(7)]]]);
  const rest = { ...others, txKeys, recent: { offset: 1, ids: [] } };
  const picture = writeCbor({ kind: "state", version: 1, state: rest } as unknown as Plain);
  const note = encodeChange({ kind: "note", txHash: "5c", note: "kept" });
  await (await Journal.create(options.path, secret, [picture, note])).close();
  const { ledger, log } = await openStore(options, settings);
  assert.deepEqual([ledger.state.intents, ledger.state.notes.get("5c")], [[], "kept"]);
  assert.deepEqual(new Map(ledger.state.txKeys), txKeys);
  await log.append({ kind: "intent", intent: head("new") });
  await log.close();
  const { journal, records } = await Journal.open(options.path, secret);
  await journal.close();
  assert.equal((readCbor(records[0]!) as { version: unknown }).version, 3);
  const again = await openStore(options, settings);
  assert.equal(again.ledger.intentPlaces.get("new"), 0);
  await again.log.close();
});

test("a change or picture of a later version is an error", async () => {
  const options = { path: join(folder, "later"), secret, network: "regtest" } as const;
  const log = await createStore(options, createLedger("regtest", settings));
  await log.append({ kind: "toString" } as never);
  await log.close();
  await assert.rejects(openStore(options, settings), DamagedJournal);
  const picture = writeCbor({ kind: "state", version: 4, state: {} } as unknown as Plain);
  await (await Journal.create(options.path, secret, [picture])).close();
  await assert.rejects(openStore(options, settings), DamagedJournal);
});

test("a payment of a known key is found without a walk, and a page begins after any of 100,000", () => {
  const ledger = createLedger("regtest", settings);
  for (let i = 0; i < 100_000; i++) applyChange(ledger, { kind: "intent", intent: head(`key ${i}`) });
  applyChange(ledger, { kind: "intent", intent: { ...head("key 5"), method: "sweep_all" } });
  assert.equal(ledger.state.intents.length, 100_000);
  assert.equal(ledger.intentPlaces.get("key 99999"), 99_999);
  assert.equal(ledger.state.intents[5]?.method, "sweep_all");
});
