/** How a transaction is told of: whole, in parts or as JSON, in a block or waiting, with a made-up node around it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  prunableHash,
  readTransaction,
  toHex,
  transactionHash,
  writePrunedTransaction,
} from "@anulo/protocol";
import type { NodeContext } from "../src/rpc/context.ts";
import { findTransaction, transactionEntry } from "../src/rpc/transaction-entry.ts";
import { goldenState } from "./recorded-chains.ts";

const [blob] = goldenState().pool;
const transaction = readTransaction(blob!);
const pruned = writePrunedTransaction(transaction);
const prunable = blob!.subarray(pruned.length);
const hash = prunableHash(transaction);
const id = transactionHash(transaction);
const key = toHex(id);
const HEIGHT = 100;

/** A node that has the transaction in a block, or waiting as such a row. */
function nodeWith({ isPruned = false, row = undefined as object | undefined, restricted = false } = {}) {
  const reads = { texts: 0 };
  const read = {
    transaction: () => (row === undefined ? { id: 7, height: 90, prunableHash: hash } : undefined),
    prunedTransaction: () => {
      reads.texts++;
      return pruned;
    },
    prunablePart: () => (isPruned ? undefined : prunable),
    blockField: () => 1234,
    outputIndices: () => [5, 6],
  };
  const cached = new Map<string, unknown>();
  const pool = { get: () => (row === undefined ? undefined : { id, key, row: { blob, ...row } }) };
  const context = {
    parts: { store: { read }, pool, state: { view: () => ({ height: HEIGHT }) } },
    memory: { transactions: cached },
    restricted,
  } as unknown as NodeContext;
  return { context, reads };
}

const plain = { text: key, decode_as_json: false, prune: false, split: false };
function entryOf(context: NodeContext, options: Partial<typeof plain> = {}) {
  const { fields, entry } = transactionEntry(context, findTransaction(context, id)!, {
    ...plain,
    ...options,
  });
  return { fields, where: "changing" in entry ? entry.changing : { ...entry } };
}

const shown = ({ fields }: ReturnType<typeof entryOf>) =>
  [fields.as_hex, fields.pruned_as_hex, fields.prunable_as_hex].map((bytes) => bytes.length);

test("bytes come whole, in two parts, or without what is prunable", () => {
  const { context } = nodeWith();
  assert.deepEqual(shown(entryOf(context)), [blob!.length, 0, 0]);
  assert.deepEqual(shown(entryOf(context, { split: true })), [0, pruned.length, prunable.length]);
  assert.deepEqual(shown(entryOf(context, { prune: true })), [0, pruned.length, 0]);
  assert.deepEqual(entryOf(context).fields.as_hex, Buffer.from(blob!));
  assert.deepEqual(entryOf(context, { split: true }).fields.prunable_as_hex, prunable);
  const gone = nodeWith({ isPruned: true }).context;
  assert.deepEqual(shown(entryOf(gone)), [0, pruned.length, 0]);
  for (const { fields } of [entryOf(context), entryOf(gone)])
    assert.deepEqual([fields.tx_hash, fields.prunable_hash], [key, hash]);
});

test("JSON is of all there is, unless it is to be pruned, and of what is left of one that was pruned", () => {
  const jsonOf = (options: Partial<typeof plain>, isPruned = false) => {
    const { context } = nodeWith({ isPruned });
    return JSON.parse(JSON.parse(entryOf(context, { decode_as_json: true, ...options }).fields.as_json.json));
  };
  assert.ok("rctsig_prunable" in jsonOf({}));
  assert.ok("rctsig_prunable" in jsonOf({ split: true }));
  assert.ok(!("rctsig_prunable" in jsonOf({ prune: true })));
  assert.ok(!("rctsig_prunable" in jsonOf({}, true)));
  assert.equal(entryOf(nodeWith().context).fields.as_json.json, '""');
});

test("texts of whole transactions are made once for each form, others each time", () => {
  const { context, reads } = nodeWith();
  const forms = [{}, { prune: true }, { split: true }, { decode_as_json: true }, { text: key.toUpperCase() }];
  for (let time = 0; time < 2; time++) for (const form of forms) entryOf(context, form);
  assert.equal(reads.texts, forms.length);
  const gone = nodeWith({ isPruned: true });
  for (let time = 0; time < 3; time++) entryOf(gone.context);
  assert.equal(gone.reads.texts, 3);
});

test("one in a block is told of with its place and depth, one that waits with what happened to it", () => {
  const stored = { block_height: 90, block_timestamp: 1234, confirmations: 10, output_indices: [5, 6] };
  const inBlock = { in_pool: false, double_spend_seen: false, ...stored };
  assert.deepEqual(entryOf(nodeWith().context).where, inBlock);
  assert.deepEqual(
    Object.entries(inBlock).filter(
      ([name]) => !(name in entryOf(nodeWith({ isPruned: true }).context).where),
    ),
    [],
  );
  const row = { ...seen, doubleSpendSeen: true, receiveTime: 77, relayed: true };
  const waits = { in_pool: true, double_spend_seen: true, received_timestamp: 77, relayed: true };
  assert.deepEqual(entryOf(nodeWith({ row }).context).where, waits);
  const { where } = entryOf(nodeWith({ row, restricted: true }).context);
  assert.deepEqual(where, { ...waits, received_timestamp: 0 });
});

const hidden = { doNotRelay: true, keptByBlock: false, phase: "stem" };
const seen = { doNotRelay: false, keptByBlock: false, phase: "fluff" };

test("strangers are shown no transaction before everybody may know it", () => {
  const find = (row: object, restricted: boolean) =>
    findTransaction(nodeWith({ row, restricted }).context, id) !== undefined;
  assert.deepEqual([find(hidden, false), find(hidden, true)], [true, false]);
  assert.deepEqual([find(seen, false), find(seen, true)], [true, true]);
});
