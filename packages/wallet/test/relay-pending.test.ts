/** Transactions that come as metadata: what is kept of a wallet's own, and of somebody else's. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { sumAmounts, toHex } from "@anulo/protocol";
import type { Submission } from "../src/actions/submit.ts";
import { relayPending } from "../src/actions/transfers.ts";
import type { Daemon } from "../src/daemon.ts";
import type { ChangeLog } from "../src/file/store.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { createRuntime } from "../src/runtime.ts";
import { pendingOf } from "../src/transfer/metadata.ts";
import { sign } from "../src/transfer/sign.ts";
import { Wallet } from "../src/wallet.ts";
import { destinationOf, receive, receiverOf, ringAround, seededRandom } from "./transfer-fixture.ts";

const FEE = 30_000_000n;
const random = seededRandom("relay pending");
const keys = createKeys(random);
const input = receive(keys, { amount: 900_000_000_000n, globalIndex: 1000 }, random);
const destinations = [destinationOf(createKeys(random), 1_000_000_000n)];
const change = input.amount - sumAmounts(destinations) - FEE;
const signed = sign(
  { inputs: [input], destinations, change, fee: FEE, rings: [ringAround(input, random)], unlockTime: 0n },
  { keys, change: receiverOf(keys), random },
);
const pending = pendingOf(signed, { change: receiverOf(keys), indexOf: () => 0 });
const txid = toHex(signed.txHash);

const intent = { key: "k", asked: new Uint8Array(32), method: "relay_tx", createdAt: 1 };
/** A wallet that is closed overwrites the answers it has. */
const withAnswer = (): Submission => ({ intent, answer: Uint8Array.of(1, 2, 3) });
const withoutAnswer: Submission = { intent, answer: undefined };

type Scene = {
  readonly owned?: OwnedOutput;
  readonly verdict?: () => object;
  /** Whether the node says that it has the transaction. */
  readonly hasIt?: () => boolean;
};

/** A wallet, and what it has the disk and the node do. */
function scene(t: TestContext, { owned, verdict = () => ({ status: "OK" }), hasIt = () => false }: Scene) {
  const events: string[] = [];
  const log: ChangeLog = {
    append: async ({ kind }) => {
      await nextTurn();
      events.push(`write ${kind}`);
    },
    refuse: () => undefined,
    close: async () => undefined,
  };
  const ledger = createLedger("regtest", { seedLanguage: "English", refreshFromHeight: 0 });
  if (owned !== undefined) ledger.state.outputs.push(owned);
  const client = {
    sendRawTransaction: async () => {
      events.push("relay");
      return verdict();
    },
    getTransactions: async () => ({ status: "OK", txs: hasIt() ? [{ tx_hash: txid }] : [] }),
  };
  const runtime = createRuntime();
  const wallet = new Wallet({ keys, ledger, log, daemon: { client } as unknown as Daemon, runtime });
  t.after(() => wallet.close());
  const relay = (submission: Submission, what = pending) => relayPending(wallet, what, submission);
  return { wallet, events, relay };
}

const refused = () => ({ status: "Failed", reason: "", double_spend: true });

test("what spends an output of the wallet is kept before it is sent, and marked as sent after it", async (t) => {
  const { wallet, events, relay } = scene(t, { owned: input });
  await relay(withAnswer());
  assert.deepEqual(events, ["write intent", "relay", "write outgoingState"]);
  assert.equal(wallet.state.outgoing.get(txid)?.state, "pending");
  assert.equal(wallet.intents.of("k")?.outcome?.kind, "sending");
});

test("so is what spends an output whose key image the wallet does not know", async (t) => {
  const { constructionData } = pending;
  const own = constructionData.sources[0]!;
  const others = { ...own, realOutput: (own.realOutput + 1n) % BigInt(own.outputs.length) };
  for (const sources of [[own], [others, own]]) {
    const { wallet, relay } = scene(t, { owned: { ...input, keyImage: undefined } });
    await relay(withoutAnswer, { ...pending, constructionData: { ...constructionData, sources } });
    assert.ok(wallet.state.outgoing.has(txid));
  }
});

test("of somebody else's transaction nothing is kept but the answer, once it is sent", async (t) => {
  const others = [undefined, { ...input, keyImage: new Uint8Array(32).fill(7) }];
  for (const owned of others) {
    const { wallet, events, relay } = scene(t, owned === undefined ? {} : { owned });
    await relay(withAnswer());
    assert.deepEqual(events, ["relay", "write intent"]);
    assert.equal(wallet.state.outgoing.size, 0);
    const outcome = { kind: "sending", txHashes: [signed.txHash], answer: Uint8Array.of(1, 2, 3) };
    assert.deepEqual(wallet.intents.of("k")?.outcome, outcome);
  }
  const { events, relay } = scene(t, {});
  await relay(withoutAnswer);
  assert.deepEqual(events, ["relay"], "no call can repeat it");
});

test("somebody else's transaction that the node rejects is an error, unless the node has it", async (t) => {
  const rejected = scene(t, { verdict: refused });
  await assert.rejects(rejected.relay(withAnswer()), { message: /rejected by daemon \(double spend\)/ });
  assert.deepEqual(rejected.events, ["relay"]);
  const known = scene(t, { verdict: refused, hasIt: () => true });
  await known.relay(withAnswer());
  assert.deepEqual(known.events, ["relay", "write intent"]);
});

test("a node that does not say whether it has what it rejects has it not; a fault is passed on", async (t) => {
  const away = () => {
    throw new WalletRefusal("NO_DAEMON_CONNECTION", "no connection to daemon");
  };
  await assert.rejects(scene(t, { verdict: refused, hasIt: away }).relay(withAnswer()), {
    message: /rejected by daemon/,
  });
  const fault = new RangeError("a fault");
  const broken = scene(t, {
    verdict: refused,
    hasIt: () => {
      throw fault;
    },
  });
  await assert.rejects(broken.relay(withAnswer()), fault);
});
