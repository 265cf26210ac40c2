import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { sumAmounts, toHex } from "@anulo/protocol";
import { type Submission, submitEach } from "../src/actions/submit.ts";
import type { WalletChange } from "../src/changes.ts";
import type { Daemon } from "../src/daemon.ts";
import type { ChangeLog } from "../src/file/store.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { createRuntime } from "../src/runtime.ts";
import { pendingOf } from "../src/transfer/metadata.ts";
import { sign } from "../src/transfer/sign.ts";
import { Wallet } from "../src/wallet.ts";
import { destinationOf, receive, receiverOf, ringAround, seededRandom } from "./transfer-fixture.ts";

// Closes a class of losses: something leaves, or is answered, before what it rests on is on disk.

const FEE = 30_000_000n;
const random = seededRandom("submit");
const keys = createKeys(random);
const inputs = [receive(keys, { amount: 900_000_000_000n, globalIndex: 1000 }, random)];
const destinations = [destinationOf(createKeys(random), 1_000_000_000n)];
const change = sumAmounts(inputs) - sumAmounts(destinations) - FEE;
const rings = inputs.map((output) => ringAround(output, random));
const signed = sign(
  { inputs, destinations, change, fee: FEE, rings, unlockTime: 0n },
  { keys, change: receiverOf(keys), random },
);
const pending = pendingOf(signed, { change: receiverOf(keys), indexOf: () => 0 });
const txid = toHex(signed.txHash);

/** Of a caller who gave no key. */
const submission: Submission = {
  intent: { key: "made up", asked: new Uint8Array(0), method: "transfer", createdAt: 0 },
  answer: undefined,
};

/** A disk that accepts a change only on request. */
function slowLog() {
  const events: string[] = [];
  const waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const log: ChangeLog = {
    append: (change: WalletChange) => {
      events.push(`write ${change.kind}`);
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    refuse: () => undefined,
    close: async () => undefined,
  };
  return { events, log, next: () => waiting.shift()! };
}

const wallets: Wallet[] = [];
after(() => Promise.all(wallets.map((wallet) => wallet.close())));

function stage(verdict: () => Promise<{ accepted: boolean; reason: string }>) {
  const disk = slowLog();
  const ledger = createLedger("regtest", { seedLanguage: "English", refreshFromHeight: 0 });
  /** Ids of the transactions that the node has. */
  const known = new Set<string>();
  const getTransactions = async ({ txs_hashes }: { txs_hashes: string[] }) => ({
    status: "OK",
    txs: txs_hashes.filter((hash) => known.has(hash)).map((tx_hash) => ({ tx_hash })),
  });
  const daemon = { client: { getTransactions } } as unknown as Daemon;
  const wallet = new Wallet({ keys, ledger, log: disk.log, daemon, runtime: createRuntime() });
  wallets.push(wallet);
  const send = () => {
    const relay = async () => {
      disk.events.push("relay");
      return await verdict();
    };
    return submitEach([pending], { wallet, relay, addressOf: () => "an address" }, submission).then(
      () => void disk.events.push("answer"),
      (error: WalletRefusal) => {
        disk.events.push(`refusal: ${error.message}`);
        refusal = error;
      },
    );
  };
  let refusal: WalletRefusal | undefined;
  return { ...disk, wallet, known, send, named: () => refusal?.data?.tx_hash_list };
}

/** Lets everything that does not wait for the disk happen. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await setImmediate();
}

const accepted = async () => ({ accepted: true, reason: "" });

test("a payment is relayed once it is on disk, and answered once that it was taken is", async () => {
  const { events, next, send, wallet } = stage(accepted);
  const sending = send();
  await settle();
  assert.deepEqual(events, ["write intent"]);
  next().resolve();
  await settle();
  assert.deepEqual(events, ["write intent", "relay", "write outgoingState"]);
  next().resolve();
  await sending;
  assert.equal(events.at(-1), "answer");
  assert.equal(wallet.state.outgoing.get(txid)?.state, "pending");
});

test("a payment that can't be kept is never relayed, and named where it may be on disk all the same", async () => {
  const { events, next, send, named, wallet } = stage(accepted);
  const sending = send();
  await settle();
  next().reject(Object.assign(new Error("no space left"), { code: "ENOSPC" }));
  await sending;
  assert.ok(!events.includes("relay"));
  assert.match(events.at(-1)!, /^refusal: The wallet's files cannot be written/);
  assert.deepEqual(named(), [txid]);
  // It is in memory, from where it would be lost: neither a repeated call sends it, nor is anything else begun.
  await send();
  assert.ok(!events.includes("relay"));
  await assert.rejects(wallet.commit({ kind: "newAccount", label: "" }), /cannot be written/);
  assert.equal(wallet.state.accounts.length, 1);
  assert.deepEqual(
    events.filter((event) => event.startsWith("write")),
    ["write intent"],
  );
});

/** Lets a payment be written, relayed, and what came of it be written; `steps`: what has begun before the last is done. */
async function sendInTwoWrites(
  { events, next, send }: Pick<ReturnType<typeof stage>, "events" | "next" | "send">,
  steps: readonly string[],
): Promise<void> {
  const sending = send();
  await settle();
  next().resolve();
  await settle();
  assert.deepEqual(events, steps);
  next().resolve();
  await sending;
}

test("a refusal is answered once the payment is off the disk", async () => {
  const { events, next, send, wallet } = stage(async () => ({ accepted: false, reason: "double spend" }));
  await sendInTwoWrites({ events, next, send }, ["write intent", "relay", "write intent"]);
  assert.equal(events.at(-1), "refusal: transaction was rejected by daemon (double spend)");
  assert.equal(wallet.state.outgoing.has(txid), false);
});

test("a payment that the node rejects and has all the same is sent, and its caller is not told to pay again", async () => {
  const { events, next, send, known, wallet } = stage(async () => ({
    accepted: false,
    reason: "double spend",
  }));
  known.add(txid);
  await sendInTwoWrites({ events, next, send }, ["write intent", "relay", "write outgoingState"]);
  assert.equal(events.at(-1), "answer");
  assert.equal(wallet.state.outgoing.get(txid)?.state, "pending");
});

test("where the node's answer is lost the payment stays, and is sent again without a second record", async () => {
  let isLost = true;
  const { events, next, send, wallet, named } = stage(async () => {
    if (isLost) throw new WalletRefusal("NO_DAEMON_CONNECTION", "connection lost");
    return { accepted: true, reason: "" };
  });
  const sending = send();
  await settle();
  next().resolve();
  await sending;
  assert.deepEqual(named(), [txid]);
  assert.deepEqual(events, [
    "write intent",
    "relay",
    `refusal: connection lost; transaction ${txid} may have been sent, is kept and will be sent again`,
  ]);
  assert.equal(wallet.state.outgoing.get(txid)?.state, "signed");
  isLost = false;
  const again = send();
  await settle();
  next().resolve();
  await again;
  assert.deepEqual(events.slice(3), ["relay", "write outgoingState", "answer"]);
});

test("a refusal of what was sent before leaves what is known of it", async () => {
  let isAccepted = true;
  const { events, next, send, wallet } = stage(async () => ({ accepted: isAccepted, reason: "" }));
  const sending = send();
  await settle();
  next().resolve();
  await settle();
  next().resolve();
  await sending;
  isAccepted = false;
  await send();
  assert.deepEqual(events.slice(-2), ["relay", "refusal: transaction was rejected by daemon"]);
  assert.equal(wallet.state.outgoing.get(txid)?.state, "pending");
});

test("of several payments, those that were sent before one is refused are named", async () => {
  let asked = 0;
  const verdict = async () => ({ accepted: asked++ === 0, reason: "" });
  const { wallet, events, next } = stage(accepted);
  const parts = { wallet, relay: verdict, addressOf: () => "an address" };
  const sending = assert.rejects(submitEach([pending, pending], parts, submission), {
    message: `transaction was rejected by daemon; sent before it: ${txid}`,
    data: { tx_hash_list: [txid, txid] },
  });
  for (const written of ["intent", "outgoingState"]) {
    await settle();
    assert.equal(events.at(-1), `write ${written}`);
    next().resolve();
  }
  await sending;
});
