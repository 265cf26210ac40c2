import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openStore } from "../src/open-store.ts";
import { OutputBatch } from "../src/output-batch.ts";
import { sampleBlock } from "./sample-blocks.ts";

// Closes the cost of copies and objects for each output that rings ask for.
test("a batch holds at each position what reading that output alone gives", async () => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-storage-"));
  try {
    const store = await openStore({ path: join(folder, "chain.mdb"), network: "regtest" });
    store.write((writer) => {
      for (let height = 0; height < 30; height++) {
        const block = sampleBlock(height);
        // Every byte of a time is its own.
        const unlockTime = 0x0102_0304_0506_0708n * BigInt(1 + height);
        const transactions = block.transactions.map((tx) => ({ ...tx, unlockTime }));
        writer.appendBlock({ ...block, transactions });
      }
    });
    const { read } = store;
    const names = [...read.outputCounts()].flatMap(({ amount, count }) =>
      Array.from({ length: count }, (_, index) => ({ amount, index: BigInt(index) })),
    );
    assert.ok(names.some(({ amount }) => amount === 0n) && names.some(({ amount }) => amount > 0n));
    for (const withTransactionHashes of [true, false]) {
      const batch = new OutputBatch(names.length, { withTransactionHashes });
      // Backwards: a position is its own, whatever was read before.
      for (let at = names.length - 1; at >= 0; at--) assert.ok(read.readIntoBatch(batch, at, names[at]!));
      for (const [at, { amount, index }] of names.entries()) {
        const output = read.output(amount, Number(index))!;
        const hashAt = (column: Uint8Array) => column.slice(32 * at, 32 * at + 32);
        assert.equal(batch.heights[at], output.height);
        assert.equal(batch.unlockTimes[at], Number(output.unlockTime));
        assert.deepEqual(hashAt(batch.keys), new Uint8Array(output.key));
        assert.deepEqual(hashAt(batch.commitments), new Uint8Array(output.commitment));
        const hash = withTransactionHashes ? hashAt(batch.transactionHashes!) : undefined;
        const expected = new Uint8Array(read.transactionById(output.transactionId)!.hash);
        assert.deepEqual(hash, withTransactionHashes ? expected : undefined);
      }
      assert.equal(read.readIntoBatch(batch, 0, { amount: 0n, index: BigInt(read.outputCount(0n)) }), false);
      assert.equal(read.readIntoBatch(batch, 0, { amount: 0n, index: 2n ** 64n - 1n }), false);
    }
    await store.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
