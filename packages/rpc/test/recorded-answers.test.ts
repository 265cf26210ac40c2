import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Call, type Json, parseJson } from "../src/index.ts";
import { callOf, goldenSteps, type Step } from "./golden.ts";

/** Fields we answer and the original programs do not (the additive differences), with a value to stand in. */
const additions: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  "/send_raw_transaction": { not_rct: false },
  "/get_transaction_pool transactions": { max_used_block_hash: "" },
  "incoming_transfers transfers": { tx_size: 0 },
  split_integrated_address: { payment: "" },
  "get_address_book entries": { payment_id: "" },
};

/** Walks the lists of records in an answer and gives each its additions. */
function change(
  call: Call,
  answer: unknown,
  edit: (record: Record<string, Json>, add: object) => void,
): void {
  const record = answer as Record<string, Json>;
  for (const [where, add] of Object.entries(additions)) {
    const [name, member] = where.split(" ");
    if (name !== call.name) continue;
    if (member === undefined) edit(record, add);
    else for (const item of (record[member] as Record<string, Json>[] | undefined) ?? []) edit(item, add);
  }
}

function successOf(step: Step): unknown {
  const { json, http } = step.answer;
  if (http !== 200 || json === undefined || step.answer.raw_bytes_in_json) return undefined;
  if (step.request.path !== "/json_rpc") return json;
  return (json as { result?: unknown }).result;
}

/** True for results that are one text. */
function readable(answer: unknown): boolean {
  return typeof answer === "object" && answer !== null;
}

const groups = [
  "node_read",
  "node_restricted",
  "node_write",
  "wallet_none",
  "wallet_files",
  "wallet_read",
  "wallet_send",
  "wallet_cold",
  "wallet_multisig",
  "wallet_restricted",
];

describe("recorded answers", () => {
  for (const group of groups) {
    it(`of ${group} are read and written back unchanged by their declarations`, () => {
      let checked = 0;
      // What wallets answer is that of the release before.
      for (const step of goldenSteps(group, group.startsWith("wallet") ? "0.18.0" : "0.18.5")) {
        const answer = successOf(step);
        if (!readable(answer)) continue;
        const call = callOf(step);
        assert.ok(call, `${step.id}: ${step.request.path} is declared`);
        checkAnswer(call, answer, step.id);
        checked++;
      }
      assert.ok(checked > 0);
    });
  }
});

function checkAnswer(call: Call, recorded: unknown, id: string): void {
  const answer = structuredClone(recorded);
  change(call, answer, (record, add) => Object.assign(record, { ...add, ...record }));
  let written: unknown;
  try {
    const value = call.result.read(answer as Json, { of: "answer" });
    written = parseJson(Buffer.from(`{"r":${call.result.write(value, "upstream", "")}}`, "latin1")).r;
  } catch (error) {
    throw new Error(`${id}: ${(error as { path?: string[] }).path?.join(".")} ${error}`);
  }
  assert.deepEqual(plain(written), plain(answer), id);
}

/** The same without prototypes. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}
