/** Bytes of others, read as a block with its transactions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { VerifiedBlock } from "@anulo/consensus";
import { BadBytes, readTransaction, toHex, transactionHash } from "@anulo/protocol";
import type { NewTransaction } from "@anulo/storage";
import {
  newBlock,
  readBlockWithTransactions,
  readIncomingBlock,
  readSuppliedTransaction,
  withProofs,
  withTransactions,
} from "../src/chain/incoming-block.ts";
import { recordedChain } from "./recorded-chains.ts";

const [paid, other] = recordedChain().filter(({ transactions }) => transactions.length > 0) as [
  ReturnType<typeof recordedChain>[number],
  ReturnType<typeof recordedChain>[number],
];
const MAX_TRANSACTION_BYTES = 1_000_000;

test("a block is read with the transactions that it names, all of them or some", async () => {
  const { blob, transactions } = paid;
  const incoming = await readBlockWithTransactions(blob, transactions);
  const ids = transactions.map((bytes) => toHex(transactionHash(readTransaction(bytes))));
  assert.deepEqual([...incoming.transactions!.keys()], ids);
  for (const [i, bytes] of transactions.entries()) {
    const read = incoming.transactions!.get(ids[i]!)!;
    assert.deepEqual([new Uint8Array(read.blob), read.hasProofs], [new Uint8Array(bytes), true]);
  }
  assert.equal((await readBlockWithTransactions(blob, [])).transactions!.size, 0);
});

test("transactions that a block does not name are refused, and more than it names before they are read", async () => {
  const { blob, transactions } = paid;
  const foreign = other.transactions[0]!;
  const wrong = [...transactions.slice(1), foreign];
  await assert.rejects(readBlockWithTransactions(blob, wrong), /that the block does not hold/);
  const more = [...transactions, new Uint8Array(3)];
  await assert.rejects(readBlockWithTransactions(blob, more), /more transactions than the block holds/);
});

test("a transaction is at most a million bytes, whole or pruned", async () => {
  const { blob, transactions } = paid;
  const ofLength = (length: number) => new Uint8Array(length);
  const tooLong = /^a transaction of \d+ bytes$/;
  const refuses = (read: () => unknown, message: RegExp | undefined) =>
    assert.throws(read, (error: Error) => {
      assert.ok(error instanceof BadBytes);
      assert.equal(message === undefined ? !tooLong.test(error.message) : message.test(error.message), true);
      return true;
    });
  refuses(() => readSuppliedTransaction(ofLength(MAX_TRANSACTION_BYTES + 1)), tooLong);
  refuses(() => readSuppliedTransaction(ofLength(MAX_TRANSACTION_BYTES)), undefined);
  const incoming = await readBlockWithTransactions(blob, transactions);
  const pruned = (length: number) =>
    withTransactions(incoming, [
      { pruned: ofLength(length), prunableHash: new Uint8Array(32), weight: length },
    ]);
  await assert.rejects(pruned(MAX_TRANSACTION_BYTES + 1), { message: tooLong });
  await assert.rejects(
    pruned(MAX_TRANSACTION_BYTES),
    (error: Error) => error instanceof BadBytes && !tooLong.test(error.message),
  );
});

test("a block is stored with the bytes of its transactions as they came, whole or without what was pruned", async () => {
  const { blob, transactions } = paid;
  const verified = {
    weight: 11,
    longTermWeight: 12,
    cumulativeDifficulty: 13n,
    alreadyGenerated: 14n,
  } as VerifiedBlock;
  const incoming = readIncomingBlock(blob);
  const bytesOf = ({ pruned, prunable }: NewTransaction) =>
    new Uint8Array(Buffer.concat([pruned, ...(prunable === undefined ? [] : [prunable])]));
  for (const withProofs of [true, false]) {
    const supplied = transactions.map((bytes) => readSuppliedTransaction(bytes, { withProofs }));
    const stored = newBlock(incoming, supplied, verified);
    assert.deepEqual(
      stored.transactions.slice(1).map(bytesOf),
      transactions.map((bytes) => new Uint8Array(bytes)),
    );
    assert.deepEqual(
      [stored.weight, stored.longTermWeight, stored.cumulativeDifficulty, stored.alreadyGenerated],
      [11, 12, 13n, 14n],
    );
    assert.deepEqual(stored.transactions[0]!.hash, incoming.minerTransactionHash);
  }
  const [whole] = transactions.map((bytes) => readSuppliedTransaction(bytes));
  const { prunedSize, prunableHash } = whole!;
  const pruned = whole!.blob.slice(0, prunedSize);
  const fetched = await withTransactions(incoming, [{ pruned, prunableHash, weight: 1 }]);
  const stored = newBlock(incoming, [...fetched.transactions!.values()], verified).transactions[1]!;
  assert.equal(stored.prunable, undefined);
  assert.deepEqual([stored.hash, stored.prunableHash], [whole!.id, prunableHash]);
  assert.deepEqual(bytesOf(stored), new Uint8Array(pruned));
});

test("what was read without its proofs is read again where they are wanted", () => {
  const [bytes] = paid.transactions as [Uint8Array];
  const whole = readSuppliedTransaction(bytes);
  const bare = readSuppliedTransaction(bytes, { withProofs: false });
  assert.deepEqual([whole.hasProofs, bare.hasProofs], [true, false]);
  assert.deepEqual(bare.id, whole.id);
  assert.equal(withProofs(whole), whole);
  assert.deepEqual(withProofs(bare), whole);
});
