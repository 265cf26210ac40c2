import assert from "node:assert/strict";
import { test } from "node:test";
import { commitZeroMask } from "@anulo/crypto";
import {
  genesisBlock,
  keyImagesOf,
  networks,
  readIdentifiedTransaction,
  readTransaction,
  type Transaction,
  toHex,
} from "@anulo/protocol";
import type { ChainReader, StoredTransaction } from "@anulo/storage";
import {
  factsOfTransaction,
  newIdentifiedTransaction,
  newPrunedTransaction,
  newTransaction,
  storedTransaction,
  transactionBlob,
} from "../src/chain/stored-transaction.ts";
import { recordedChain } from "./recorded-chains.ts";

const identified = readIdentifiedTransaction(
  recordedChain().find(({ transactions }) => transactions.length > 0)!.transactions[0]!,
);
const { transaction, id, blob, prunedSize, prunableHash, weight } = identified;
const pruned = blob.subarray(0, prunedSize);
const prunable = blob.subarray(prunedSize);
const row = { id: 5 } as StoredTransaction;

/** A chain that has these parts of the transaction. */
const readOf = (parts: { pruned?: Uint8Array; prunable?: Uint8Array }) =>
  ({
    prunedTransaction: (number: number) => (number === 5 ? parts.pruned : undefined),
    prunablePart: (number: number) => (number === 5 ? parts.prunable : undefined),
  }) as unknown as ChainReader;

test("a transaction is stored in two parts, of which the second may be missing", () => {
  const whole = newIdentifiedTransaction(identified);
  assert.deepEqual([whole.pruned, whole.prunable, whole.prunableHash], [pruned, prunable, prunableHash]);
  const rows = ({ hash, outputs, keyImages, unlockTime }: typeof whole) => {
    return { hash, outputs, keyImages, unlockTime };
  };
  const parsed = newTransaction(transaction, id);
  assert.deepEqual(rows(parsed), rows(whole));
  assert.deepEqual(
    [parsed.pruned, parsed.prunable, parsed.prunableHash].map((each) => each && toHex(each)),
    [pruned, prunable, prunableHash].map((each) => each && toHex(each)),
  );
  const cut = newIdentifiedTransaction({ ...identified, blob: pruned, isPruned: true });
  assert.deepEqual([cut.pruned, cut.prunable, cut.prunableHash], [pruned, undefined, prunableHash]);
  const withoutProofs = newPrunedTransaction(transaction, id, prunableHash!);
  assert.deepEqual(rows(withoutProofs), rows(whole));
  assert.deepEqual([toHex(withoutProofs.pruned), withoutProofs.prunable], [toHex(pruned), undefined]);
});

test("what a stored transaction creates and spends is read of its first part", () => {
  const outputAmounts = transaction.prefix.outputs.map(() => 0n);
  assert.deepEqual(factsOfTransaction(pruned), { outputAmounts, keyImages: keyImagesOf(transaction.prefix) });
});

test("a stored transaction is whole, or as far as it was kept, and weighs the same", () => {
  assert.deepEqual(transactionBlob(readOf({ pruned, prunable }), row), Uint8Array.from(blob));
  assert.equal(transactionBlob(readOf({ pruned }), row), undefined);
  assert.equal(transactionBlob(readOf({}), row), undefined);
  const whole = storedTransaction(readOf({ pruned, prunable }), row);
  assert.deepEqual(whole, { transaction: readTransaction(blob), weight });
  const cut = storedTransaction(readOf({ pruned }), row);
  assert.deepEqual(cut, { transaction: readTransaction(pruned, { pruned: true }), weight });
});

test("a miner's output commits to its visible amount whatever RingCT part his transaction has", () => {
  const { prefix } = genesisBlock(networks.mainnet).minerTransaction;
  const zeros = new Uint8Array(32);
  const amount = { mask: zeros, amount: zeros };
  const bits = new Uint8Array(64 * 32);
  const odd: Transaction = {
    prefix: { ...prefix, version: 2 },
    signatures: [],
    ringct: {
      type: 1,
      fee: 0n,
      pseudoOuts: [],
      ecdhInfo: [amount],
      outputCommitments: [new Uint8Array(32).fill(7)],
      prunable: {
        rangeSigs: [{ s0: bits, s1: bits, ee: zeros, Ci: bits }],
        bulletproofs: [],
        bulletproofsPlus: [],
        clsags: [],
        mgs: [{ ss: [[zeros, zeros]], cc: zeros }],
      },
    },
  };
  const [output] = newTransaction(odd, zeros).outputs;
  assert.deepEqual(output?.commitment, commitZeroMask(prefix.outputs[0]!.amount));
  assert.equal(output?.amount, 0n);
});
