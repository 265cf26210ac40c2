/** What the service tells of payments by their keys. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import type { IntentOutcome } from "../src/payment.ts";
import { startTestService } from "./service.ts";

const txHash = new Uint8Array(32).fill(3);
const outcomes: readonly (readonly [string, IntentOutcome | undefined])[] = [
  ["planned", undefined],
  ["sent", { kind: "sending", txHashes: [txHash], answer: undefined }],
  ["signed", { kind: "handedOut", txHashes: [txHash], answer: undefined }],
  ["failed", { kind: "refused", txHashes: [txHash], refusal: "NOT_ENOUGH_MONEY", message: "too little" }],
];

test("payments are told with their transactions, and one that was refused with the error alone", async (t) => {
  const { call, service } = await startTestService({}, t);
  await call.createWallet({ filename: "w", language: "English" });
  const { wallet } = service.opened!;
  const expected = outcomes.map(([state, outcome], at) => ({
    idempotency_key: state,
    method: "transfer",
    state,
    timestamp: 100 + at,
    transactions:
      outcome === undefined
        ? []
        : [{ tx_hash: toHex(txHash), state: state === "signed" ? state : "sent", height: 0 }],
    ...(state === "failed" && { error: { code: -17n, message: "too little" } }),
  }));
  for (const [at, [key, outcome]] of outcomes.entries()) {
    const intent = { key, asked: new Uint8Array(32), method: "transfer", createdAt: 100 + at };
    await wallet.commit({ kind: "intent", intent, ...(outcome !== undefined && { outcome }) });
    const told = await call.getIntent({ idempotency_key: key });
    assert.deepEqual(
      JSON.parse(JSON.stringify(told, plain)),
      JSON.parse(JSON.stringify(expected[at], plain)),
    );
  }
  const keysAfter = async (params: { after?: string; limit?: number }) =>
    (await call.listIntents(params)).intents.map(({ idempotency_key }) => idempotency_key);
  assert.deepEqual(await keysAfter({}), ["planned", "sent", "signed", "failed"]);
  assert.deepEqual(await keysAfter({ after: "planned", limit: 2 }), ["sent", "signed"]);
  assert.deepEqual(await keysAfter({ after: "failed" }), []);
  for (const asked of [call.getIntent({ idempotency_key: "none" }), call.listIntents({ after: "none" })])
    await assert.rejects(asked, { code: -404 });
});

const plain = (_: string, value: unknown) => (typeof value === "bigint" ? Number(value) : value);
