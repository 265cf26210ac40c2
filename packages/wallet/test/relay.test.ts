/** What a wallet makes of a node's answers to a transaction that it is sent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import type { Daemon } from "../src/daemon.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { isKnownTo, isUnmixable, relayOf } from "../src/transfer/node.ts";

/** A node whose one answer is this; what it was asked is kept. */
function nodeWith(answer: object, { isTrusted = false } = {}) {
  const asked: unknown[] = [];
  const answerAll = async (question: unknown) => {
    asked.push(question);
    return answer;
  };
  const client = { sendRawTransaction: answerAll, getTransactions: answerAll, getOutputHistogram: answerAll };
  return { asked, daemon: { isTrusted, client } as unknown as Daemon };
}

const blob = Uint8Array.of(1, 2, 255);

test("a node that takes a transaction, or says why not, has given its verdict", async () => {
  const { asked, daemon } = nodeWith({ status: "OK", reason: "ignored", double_spend: true });
  assert.deepEqual(await relayOf(daemon)(blob), { accepted: true, reason: "" });
  assert.deepEqual(asked, [{ tx_as_hex: toHex(blob) }]);
  const verdict = async (answer: object) => relayOf(nodeWith({ status: "Failed", ...answer }).daemon)(blob);
  assert.deepEqual(await verdict({ reason: "no room", too_big: true }), {
    accepted: false,
    reason: "no room",
  });
  assert.deepEqual(await verdict({ reason: "" }), { accepted: false, reason: "" });
  assert.deepEqual(await verdict({ reason: "", overspend: true, double_spend: true, too_big: false }), {
    accepted: false,
    reason: "double spend, overspend",
  });
});

test("each flag of a rejection has its words", async () => {
  const words = {
    low_mixin: "bad ring size",
    double_spend: "double spend",
    invalid_input: "invalid input",
    invalid_output: "invalid output",
    too_few_outputs: "too few outputs",
    too_big: "too big",
    overspend: "overspend",
    fee_too_low: "fee too low",
    sanity_check_failed: "tx sanity check failed",
    not_relayed: "tx was not relayed",
  };
  for (const [flag, reason] of Object.entries(words)) {
    const { daemon } = nodeWith({ status: "Failed", reason: "", [flag]: true });
    assert.deepEqual(await relayOf(daemon)(blob), { accepted: false, reason });
  }
});

test("a busy node has given no verdict", async () => {
  const { daemon } = nodeWith({ status: "BUSY", reason: "", double_spend: true });
  await assert.rejects(relayOf(daemon)(blob), WalletRefusal);
});

test("a transaction is known to a node that answers with that one", async () => {
  const [id, other] = ["a".repeat(64), "b".repeat(64)];
  const { asked, daemon } = nodeWith({ status: "OK", txs: [{ tx_hash: id }] });
  assert.equal(await isKnownTo(daemon, id), true);
  assert.equal(await isKnownTo(daemon, other), false);
  assert.deepEqual(asked, [
    { txs_hashes: [id], prune: true },
    { txs_hashes: [other], prune: true },
  ]);
  assert.equal(await isKnownTo(nodeWith({ status: "OK", txs: [] }).daemon, id), false);
  await assert.rejects(
    isKnownTo(nodeWith({ status: "BUSY", txs: [{ tx_hash: id }] }).daemon, id),
    WalletRefusal,
  );
});

test("only a trusted node is told which amounts the wallet has", async () => {
  const answer = { status: "OK", histogram: [{ amount: 5n }, { amount: 70n }] };
  const mixin = { min_count: 16, unlocked: true };
  for (const [isTrusted, amounts] of [
    [false, []],
    [true, [5n, 8n, 70n]],
  ] as const) {
    const { asked, daemon } = nodeWith(answer, { isTrusted });
    const isTooRare = await isUnmixable(daemon, [70n, 5n, 8n, 5n]);
    assert.deepEqual(asked, [{ amounts, ...mixin }]);
    assert.deepEqual([5n, 8n, 70n].map(isTooRare), [false, true, false]);
  }
});
