import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { applyBlock } from "../src/block-changes.ts";
import { checkChain, type FactReader } from "../src/check-chain.ts";
import { DamagedDatabase } from "../src/damage.ts";
import { type Environment, openEnvironment, type TableHandle } from "../src/environment.ts";
import {
  type BlockInfo,
  tables as layouts,
  type OutputInfo,
  type TableName,
  type TransactionInfo,
} from "../src/tables.ts";
import { bytesOf, sampleBlock } from "./sample-blocks.ts";

const BLOCKS = 12;

/** Sample blocks' bytes say nothing but which block they are. */
function factsUpTo(blocks: number): FactReader {
  const byBlob = new Map(
    Array.from({ length: blocks }, (_, height) => [
      Buffer.from(sampleBlock(height).blob).toString("hex"),
      height,
    ]),
  );
  return {
    block(blob, parts) {
      const height = byBlob.get(Buffer.from(blob).toString("hex"));
      if (height === undefined) throw new Error("not a sample block");
      const block = sampleBlock(height);
      const isSame = (pruned: Uint8Array, i: number) =>
        Buffer.compare(pruned, block.transactions[i]!.pruned) === 0;
      if (!parts.every(({ pruned }, i) => isSame(pruned, i))) throw new Error("other transactions");
      return { ...block, previousId: bytesOf(`block ${height - 1}`) };
    },
    blockId: (blob) => bytesOf(`of ${Buffer.from(blob).toString()}`),
    transactionId: (blob) => bytesOf(`of ${Buffer.from(blob).toString()}`),
  };
}

let folder = "";
let environment: Environment;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "anulo-check-"));
  environment = openEnvironment(join(folder, "chain.mdb"));
  environment.root.transactionSync(() => {
    for (let height = 0; height < BLOCKS; height++) applyBlock(environment.tables, sampleBlock(height));
  });
});
afterEach(async () => {
  await environment.root.close();
  rmSync(folder, { recursive: true, force: true });
});

function check() {
  const walk = checkChain(environment.tables, factsUpTo(BLOCKS));
  for (let step = walk.next(); ; step = walk.next()) if (step.done === true) return step.value;
}

test("a sound chain is counted", () => {
  assert.deepEqual(check(), { blocks: 12, transactions: 36, outputs: 60, keyImages: 36 });
});

/** What belongs to no block, or follows from nothing else. */
const besideTheChain: readonly TableName[] = ["properties", "alternativeBlocks", "poolTransactions"];
const chainTables = (Object.keys(layouts) as TableName[]).filter((name) => !besideTheChain.includes(name));

function rowsOf(name: TableName) {
  const table = environment.tables[name] as TableHandle<unknown, unknown>;
  return { table, rows: [...table.entries()] };
}

test("a row that is missing from any table is noticed, wherever it was", () => {
  for (const name of chainTables) {
    const { table, rows } = rowsOf(name);
    for (const row of [rows[0]!, rows[Math.floor(rows.length / 2)]!, rows.at(-1)!]) {
      if (name === "blockInfo" && row === rows.at(-1)) continue;
      assert.throws(
        () =>
          environment.root.transactionSync(() => {
            table.remove(row.key);
            check();
          }),
        DamagedDatabase,
        `${name} without a row`,
      );
    }
  }
  assert.equal(check().blocks, BLOCKS);
});

test("rows that stand in each other's place are noticed", () => {
  const allAlike: readonly TableName[] = ["keyImages", "prunableParts", "longTermWeights"];
  for (const name of chainTables.filter((table) => !allAlike.includes(table))) {
    const { rows } = rowsOf(name);
    const first = rows[1]!;
    const second = rows.find(
      (row) => JSON.stringify(row.value, plain) !== JSON.stringify(first.value, plain),
    )!;
    assert.throws(
      () =>
        environment.root.transactionSync(() => {
          replaceRow(name, { key: first.key, value: second.value });
          check();
        }),
      DamagedDatabase,
      `${name} with a wrong row`,
    );
  }
  assert.equal(check().blocks, BLOCKS);
});

const plain = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);

/** Tables that only grow take a row in their midst only when those above it are written again. */
function replaceRow(name: TableName, wrong: { key: unknown; value: unknown }): void {
  const { table, rows } = rowsOf(name);
  for (const { key } of rows) table.remove(key);
  for (const { key, value } of rows) {
    table.put(key, JSON.stringify(key, plain) === JSON.stringify(wrong.key, plain) ? wrong.value : value);
  }
}

test("a row too many is noticed", () => {
  const { tables } = environment;
  const extra: { readonly [N in TableName]?: () => void } = {
    longTermWeights: () => tables.longTermWeights.put(0, [...tables.longTermWeights.get(0)!, 300]),
    heights: () => tables.heights.put(bytesOf("nobody's"), 3),
    transactionIds: () => tables.transactionIds.put(bytesOf("nobody's"), 3),
    ringCtOutputs: () => tables.ringCtOutputs.put(999, tables.ringCtOutputs.get(0)!),
    outputs: () => tables.outputs.put({ amount: 7n, index: 999 }, tables.ringCtOutputs.get(0)!),
    outputCounts: () => tables.outputCounts.put(123_456n, 1),
    keyImages: () => tables.keyImages.put(bytesOf("nobody's"), true),
    prunedTransactions: () => tables.prunedTransactions.put(999, bytesOf("nobody's")),
    alternativeBlocks: () =>
      tables.alternativeBlocks.put(bytesOf("nobody's"), {
        height: 3,
        cumulativeDifficulty: 1n,
        alreadyGenerated: 1n,
        weight: 1,
        blob: bytesOf("nobody's"),
      }),
  };
  for (const [name, add] of Object.entries(extra)) {
    assert.throws(
      () =>
        environment.root.transactionSync(() => {
          add();
          check();
        }),
      DamagedDatabase,
      `${name} with a row too many`,
    );
  }
});

test("a waiting transaction under another hash than that of its bytes is found", () => {
  const blob = bytesOf("a waiting transaction");
  const row = {
    weight: 1,
    fee: 1n,
    receiveTime: 1,
    lastRelayedTime: 0n,
    maxUsedBlockHeight: 0,
    maxUsedBlockHash: new Uint8Array(32),
    lastFailedHeight: 0,
    lastFailedHash: new Uint8Array(32),
    keptByBlock: false,
    relayed: true,
    doNotRelay: false,
    doubleSpendSeen: false,
    phase: "fluff",
    blob,
  } as const;
  const put = (hash: Uint8Array) =>
    environment.root.transactionSync(() => environment.tables.poolTransactions.put(hash, row));
  put(bytesOf(`of ${Buffer.from(blob).toString()}`));
  check();
  put(bytesOf("another transaction"));
  assert.throws(check, /a waiting transaction has another hash/);
});

/** Changes one field of a row in the midst of a table, and expects the check to see it. */
function refuseField(name: TableName, index: number, change: (row: never) => unknown): void {
  const { rows } = rowsOf(name);
  const { key, value } = rows.at(index)!;
  assert.throws(
    () =>
      environment.root.transactionSync(() => {
        replaceRow(name, { key, value: change(value as never) });
        check();
      }),
    DamagedDatabase,
    `${name} ${index}: ${change}`,
  );
}

test("a single field that is not the one of the bytes is noticed, in every table", () => {
  const other = bytesOf("another");
  for (const index of [1, 6, -1]) {
    const infos: ((row: BlockInfo) => BlockInfo)[] = [
      (row) => ({ ...row, hash: other }),
      (row) => ({ ...row, timestamp: row.timestamp + 1 }),
      (row) => ({ ...row, weight: row.weight + 1 }),
      (row) => ({ ...row, longTermWeight: row.longTermWeight + 1 }),
      (row) => ({ ...row, cumulativeDifficulty: row.cumulativeDifficulty - 1n }),
      (row) => ({ ...row, alreadyGenerated: row.alreadyGenerated - 36n }),
      (row) => ({ ...row, cumulativeRctOutputs: row.cumulativeRctOutputs + 1 }),
      (row) => ({ ...row, firstTransactionId: row.firstTransactionId + 1 }),
      (row) => ({ ...row, transactionCount: row.transactionCount - 1 }),
      (row) => ({ ...row, hardForkVersion: 15 }),
      (row) => ({ ...row, minorVersion: 15 }),
    ];
    for (const change of infos) refuseField("blockInfo", index, change);
    const transactions: ((row: TransactionInfo) => TransactionInfo)[] = [
      (row) => ({ ...row, hash: other }),
      (row) => ({ ...row, height: row.height + 1 }),
      (row) => ({ ...row, unlockTime: row.unlockTime + 1n }),
      (row) => ({ ...row, prunableHash: other }),
    ];
    for (const change of transactions) refuseField("transactionInfo", index, change);
    const outputs: ((row: OutputInfo) => OutputInfo)[] = [
      (row) => ({ ...row, key: other }),
      (row) => ({ ...row, commitment: other }),
      (row) => ({ ...row, unlockTime: row.unlockTime + 1n }),
      (row) => ({ ...row, height: row.height + 1 }),
      (row) => ({ ...row, transactionId: row.transactionId + 1 }),
      (row) => ({ ...row, indexInTransaction: row.indexInTransaction + 1 }),
    ];
    for (const change of outputs) {
      refuseField("ringCtOutputs", index, change);
      refuseField("outputs", index, change);
    }
    for (const name of ["heights", "transactionIds", "outputCounts"] as const)
      for (const by of [-1, 1]) refuseField(name, index, (row: number) => row + by);
    const indices: ((row: readonly number[]) => readonly number[])[] = [
      (row) => row.map((each) => each + 1),
      (row) => row.slice(1),
      (row) => [...row, 7],
    ];
    for (const change of indices) refuseField("outputIndices", index, change);
  }
  refuseField("longTermWeights", 0, (row: readonly number[]) =>
    row.map((each, i) => (i === 5 ? each + 1 : each)),
  );
  refuseField("longTermWeights", 0, (row: readonly number[]) => row.slice(0, -1));
  assert.equal(check().blocks, BLOCKS);
});

test("totals may stay as they are where a block makes no coins, but work always grows", () => {
  const [below, row] = rowsOf("blockInfo").rows.slice(-2) as { key: number; value: BlockInfo }[];
  const { alreadyGenerated, cumulativeDifficulty } = below!.value;
  const change = (value: Partial<BlockInfo>) =>
    environment.root.transactionSync(() =>
      replaceRow("blockInfo", { key: row!.key, value: { ...row!.value, ...value } }),
    );
  change({ alreadyGenerated });
  check();
  change({ cumulativeDifficulty });
  assert.throws(check, /totals below/);
});

test("progress is told after each block", () => {
  const walk = checkChain(environment.tables, factsUpTo(BLOCKS));
  const told: number[] = [];
  for (let step = walk.next(); step.done !== true; step = walk.next()) told.push(step.value);
  assert.deepEqual(
    told,
    Array.from({ length: BLOCKS }, (_, i) => i + 1),
  );
});
