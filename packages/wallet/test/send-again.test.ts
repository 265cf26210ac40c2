import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, toHex } from "@anulo/protocol";
import { ConnectionFailed, RemoteError } from "@anulo/rpc";
import { sendMissing, sendUnseen } from "../src/actions/send-again.ts";
import type { Daemon } from "../src/daemon.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import type { OutgoingPayment, OutgoingState } from "../src/state.ts";
import { TaskQueue } from "../src/turns.ts";

const id = (number: number): Uint8Array => {
  const bytes = new Uint8Array(32);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
};

function payment(number: number, state: OutgoingState, createdAt: number): OutgoingPayment {
  return {
    txHash: id(number),
    state,
    blob: id(number),
    amountIn: 2n,
    amountOut: 1n,
    change: 0n,
    destinations: [],
    paymentId: new Uint8Array(32),
    account: 0,
    subaddressIndices: [0],
    keyImages: [id(10_000 + number)],
    unlockTime: 0n,
    createdAt,
    timestamp: createdAt,
    height: 0,
  };
}

const NOW = 10_000;
const OLD = NOW - 501;

/** A wallet with some payments, and a node that takes or refuses what it is given. */
function stage(payments: readonly OutgoingPayment[]) {
  const ledger = createLedger("regtest", { seedLanguage: "English", refreshFromHeight: 0 });
  for (const each of payments) applyChange(ledger, { kind: "outgoing", payment: each, txKeys: [] });
  const given: string[] = [];
  const node = {
    takes: true,
    isThere: true,
    isWritten: true,
    status: "Failed",
    failsAt: "",
    knows: [] as string[],
  };
  const client = {
    sendRawTransaction: async ({ tx_as_hex }: { tx_as_hex: string }) => {
      if (!node.isThere) throw new ConnectionFailed("sendRawTransaction", "nobody there");
      if (node.failsAt === tx_as_hex) throw new RemoteError("sendRawTransaction", -32603, "a bug there");
      given.push(tx_as_hex);
      return { status: node.takes ? "OK" : node.status, reason: "no" };
    },
    getTransactions: async ({ txs_hashes }: { txs_hashes: string[] }) => ({
      status: "OK",
      txs: txs_hashes.filter((hash) => node.knows.includes(hash)).map((tx_hash) => ({ tx_hash })),
    }),
  };
  const sender = {
    state: ledger.state,
    daemon: { client } as unknown as Daemon,
    now: () => ({ seconds: NOW }),
    outputOf: (image: Uint8Array) => ledger.state.outputs.withImage(image),
    commit: async (change: Parameters<typeof applyChange>[1]) => applyChange(ledger, change),
    checkWritten: () => {
      if (!node.isWritten) throw new Error("not written");
    },
  };
  const stateOf = (number: number) => ledger.state.outgoing.get(toHex(id(number)))?.state;
  return { ledger, given, node, sender, stateOf, spending: new TaskQueue() };
}

const names = (...numbers: number[]): string[] => numbers.map((number) => toHex(id(number)));

test("a payment is sent again only while nothing else spends what it spends", async () => {
  const own = toHex(id(1));
  const unspent = { spentHeight: undefined, pendingSpend: undefined };
  for (const [output, isSent] of [
    [undefined, true],
    [unspent, true],
    [{ ...unspent, pendingSpend: own }, true],
    [{ ...unspent, pendingSpend: toHex(id(2)) }, false],
    [{ ...unspent, spentHeight: 7 }, false],
    [{ spentHeight: 7, pendingSpend: own }, false],
  ] as const) {
    const { given, sender, spending } = stage([payment(1, "signed", NOW)]);
    await sendUnseen({ ...sender, outputOf: () => output as OwnedOutput | undefined }, spending);
    assert.deepEqual(given, isSent ? [own] : [], JSON.stringify(output));
  }
});

test("what the node may not have is sent: at once if its verdict was not heard, else once it has had its time", async () => {
  const { given, sender, spending, stateOf } = stage([
    payment(1, "signed", NOW),
    payment(2, "missing", NOW),
    payment(3, "missing", OLD),
    payment(4, "pending", OLD),
    payment(5, "confirmed", OLD),
    payment(6, "failed", OLD),
    { ...payment(7, "missing", OLD), blob: undefined },
    payment(8, "forgotten", OLD),
  ]);
  await sendUnseen(sender, spending);
  assert.deepEqual(given, names(1, 3, 8));
  assert.deepEqual([1, 2, 3].map(stateOf), ["pending", "missing", "pending"]);
  await sendUnseen(sender, spending);
  assert.equal(given.length, 3);
});

test("what the node refuses is given up with time, unless the node has it", async () => {
  const { given, node, sender, spending, stateOf } = stage([
    payment(1, "signed", NOW),
    payment(2, "signed", OLD),
    payment(3, "signed", OLD),
  ]);
  node.takes = false;
  node.knows.push(...names(3));
  await sendUnseen(sender, spending);
  assert.deepEqual(given, names(1, 2, 3));
  assert.deepEqual([1, 2, 3].map(stateOf), ["signed", "failed", "pending"]);
});

test("nothing is sent where the node is away, something is being spent, or the spend secret is", async () => {
  const { given, ledger, node, sender, spending, stateOf } = stage([payment(1, "signed", OLD)]);
  node.isThere = false;
  await sendUnseen(sender, spending);
  assert.equal(stateOf(1), "signed");
  node.isThere = true;
  let end = () => {};
  const spend = spending.run(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  await sendUnseen(sender, spending);
  end();
  await spend;
  const settings = { refreshFromHeight: 0, accounts: 1, addresses: 1, skipsCoinbase: false };
  applyChange(ledger, { kind: "backgroundBegins", settings });
  await sendUnseen(sender, spending);
  assert.deepEqual(given, []);
  applyChange(ledger, { kind: "backgroundEnds" });
  await sendUnseen(sender, spending);
  assert.deepEqual(given, names(1));
});

test("what cannot be mined any more is not sent, and says so where it is asked for", async () => {
  const { given, ledger, sender, spending } = stage([]);
  const received = {
    outputIndex: 0,
    globalIndex: 0n,
    amount: 5n,
    mask: id(1),
    rct: true,
    oneTimeKey: id(2),
    txPublicKey: id(3),
    keyImage: id(10_001),
    subaddress: { major: 0, minor: 0 },
  };
  const transaction = {
    txHash: id(99),
    coinbase: false,
    height: 1,
    timestamp: 1,
    unlockTime: 0n,
    fee: 1n,
    publicAmountOut: 0n,
    txSize: 0,
    paymentId: new Uint8Array(32),
    received: [received],
    inputs: [],
  };
  applyChange(ledger, {
    kind: "blocks",
    fromHeight: 1,
    count: 1,
    ids: [id(1)],
    lastBlockReward: 0n,
    transactions: [transaction],
  });
  applyChange(ledger, { kind: "outgoing", payment: payment(1, "signed", OLD), txKeys: [] });
  const rival = { ...payment(2, "pending", NOW), keyImages: [id(10_001)] };
  applyChange(ledger, { kind: "outgoing", payment: rival, txKeys: [] });
  await sendUnseen(sender, spending);
  await assert.rejects(sendMissing(sender, [id(1)]), /rejected by daemon \(its inputs are spent\)/);
  assert.deepEqual(given, []);
});

test("a refresh sends 100 at most, a repeated call what is its own", async () => {
  const many = Array.from({ length: 150 }, (_, i) => payment(i, "signed", NOW));
  const { given, sender, spending } = stage(many);
  await sendUnseen(sender, spending);
  assert.equal(given.length, 100);
  await sendMissing(
    sender,
    [id(5), id(120)].map((hash) => fromHex(toHex(hash))),
  );
  assert.deepEqual(given.slice(100), names(120));
});

test("a repeated call is refused while the node does not take what it signed", async () => {
  const { node, sender, stateOf } = stage([payment(1, "signed", NOW)]);
  node.takes = false;
  await assert.rejects(sendMissing(sender, [id(1)]), /transaction was rejected by daemon \(no\)/);
  assert.equal(stateOf(1), "signed");
  node.knows.push(...names(1));
  await sendMissing(sender, [id(1)]);
  assert.equal(stateOf(1), "pending");
});

test("nothing leaves that could not be written, whoever asks", async () => {
  const { given, node, sender, spending } = stage([payment(1, "signed", OLD)]);
  node.isWritten = false;
  await assert.rejects(sendUnseen(sender, spending), /not written/);
  await assert.rejects(sendMissing(sender, [id(1)]), /not written/);
  assert.deepEqual(given, []);
});

test("a node that is busy gives no verdict, and is asked again later", async () => {
  const { node, sender, spending, stateOf } = stage([payment(1, "signed", OLD)]);
  Object.assign(node, { takes: false, status: "BUSY" });
  await sendUnseen(sender, spending);
  assert.equal(stateOf(1), "signed");
  await assert.rejects(sendMissing(sender, [id(1)]), /daemon is busy/);
  assert.equal(stateOf(1), "signed");
});

test("a transaction at which the node fails keeps no other from being sent", async () => {
  const { given, node, sender, spending, stateOf } = stage([
    payment(1, "signed", OLD),
    payment(2, "signed", OLD),
  ]);
  node.failsAt = names(1)[0]!;
  await sendUnseen(sender, spending);
  assert.deepEqual(given, names(2));
  assert.deepEqual([1, 2].map(stateOf), ["signed", "pending"]);
});

test("what a node had taken is answered as taken, whether or not it takes it once more", async () => {
  const { given, node, sender, stateOf } = stage([payment(1, "missing", NOW)]);
  node.takes = false;
  await sendMissing(sender, [id(1)]);
  node.isThere = false;
  await sendMissing(sender, [id(1)]);
  assert.deepEqual(given, names(1));
  assert.equal(stateOf(1), "missing");
});

test("of a transaction that was forgotten the node is asked, and nothing is said that it does not know", async () => {
  const { node, sender } = stage([]);
  await assert.rejects(sendMissing(sender, [id(1)]), /is not known any more/);
  node.knows.push(...names(1));
  await sendMissing(sender, [id(1)]);
});
