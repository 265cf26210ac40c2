import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  absoluteOffsets,
  BadBytes,
  fromHex,
  NULL_HASH,
  prunableHash,
  readBlock,
  readIdentifiedTransaction,
  readTransaction,
  readTransactionPrefix,
  relativeOffsets,
  ringCtMessage,
  type TxInput,
  toHex,
  transactionHash,
  transactionPrefixHash,
  transactionWeight,
  writePrunedTransaction,
  writeTransaction,
} from "../src/index.ts";
import { keyImagesOf } from "../src/transaction.ts";
import { eraVectors, recordedBlocks, recordedTransactions } from "./fixtures.ts";

const someTransactions = [recordedTransactions[0]!, recordedTransactions.at(-1)!].map((hex) => fromHex(hex));

test("every recorded transaction is read and written byte for byte", () => {
  for (const hex of recordedTransactions) {
    const tx = readTransaction(fromHex(hex));
    assert.equal(toHex(writeTransaction(tx)), hex);
    assert.deepEqual(readTransactionPrefix(fromHex(hex)), tx.prefix);
  }
});

test("recorded transactions hash to the ids their blocks name", () => {
  for (const { block, transactions } of recordedBlocks.slice(0, 60)) {
    for (const hex of transactions)
      assert.ok(block.includes(toHex(transactionHash(readTransaction(fromHex(hex))))));
  }
});

/** What the bytes of a transaction say must be what its value says. */
function checkIdentified(blob: Uint8Array): void {
  const tx = readTransaction(blob);
  const pruned = writePrunedTransaction(tx);
  const facts = {
    id: transactionHash(tx),
    weight: transactionWeight(tx),
    blob: new Uint8Array(blob),
    prunedSize: pruned.length,
    prunableHash: tx.prefix.version === 1 ? NULL_HASH : prunableHash(tx),
  };
  assert.deepEqual(readIdentifiedTransaction(blob), { transaction: tx, ...facts });
  assert.deepEqual(blob.subarray(0, pruned.length), pruned);
  const withoutProofs = { transaction: readTransaction(pruned, { pruned: true }), ...facts };
  assert.deepEqual(readIdentifiedTransaction(blob, { withProofs: false }), withoutProofs);
  assert.throws(() => readIdentifiedTransaction(Uint8Array.from([...blob, 0])), BadBytes);
}

test("transactions are identified by their bytes as by their values, with and without their proofs", () => {
  for (const hex of recordedTransactions) checkIdentified(fromHex(hex));
  for (const { block } of recordedBlocks.slice(0, 20)) {
    checkIdentified(writeTransaction(readBlock(fromHex(block)).minerTransaction));
  }
  for (const { kind, hex } of eraVectors() ?? []) if (kind === "tx") checkIdentified(fromHex(hex));
});

test("a generation input is read alone, and refused beside others", () => {
  const { minerTransaction } = readBlock(fromHex(recordedBlocks.at(-1)!.block));
  const spend = readTransaction(someTransactions[0]!).prefix.inputs[0]!;
  const [generation] = minerTransaction.prefix.inputs;
  const blobWith = (...inputs: TxInput[]) =>
    writeTransaction({ ...minerTransaction, prefix: { ...minerTransaction.prefix, inputs } });
  assert.equal(readTransaction(blobWith(generation!)).prefix.inputs.length, 1);
  assert.equal(readTransaction(blobWith(spend, spend)).prefix.inputs.length, 2);
  for (const inputs of [
    [generation!, generation!],
    [generation!, spend],
    [spend, generation!],
  ]) {
    assert.throws(() => readTransaction(blobWith(...inputs)), BadBytes);
    assert.throws(() => readIdentifiedTransaction(blobWith(...inputs)), BadBytes);
  }
});

test("a transaction with any bytes changed is identified as it is read, or refused as it is", () => {
  for (const blob of someTransactions) {
    fc.assert(
      fc.property(fc.nat(blob.length - 1), fc.integer({ min: 0, max: 255 }), (at, value) => {
        const bytes = blob.slice();
        bytes[at] = value;
        const outcome = (read: () => Uint8Array) => {
          try {
            return toHex(read());
          } catch (error) {
            assert.ok(error instanceof BadBytes);
            return "refused";
          }
        };
        const expected = outcome(() => transactionHash(readTransaction(bytes)));
        assert.equal(
          outcome(() => readIdentifiedTransaction(bytes).id),
          expected,
        );
      }),
    );
  }
});

test("a pruned transaction keeps its id when the hash of the rest is known", () => {
  for (const blob of someTransactions) {
    const whole = readTransaction(blob);
    const pruned = readTransaction(writePrunedTransaction(whole), { pruned: true });
    assert.deepEqual(transactionHash(pruned, prunableHash(whole)), transactionHash(whole));
    assert.throws(() => writeTransaction(pruned), RangeError);
    assert.throws(() => ringCtMessage(pruned), RangeError);
  }
});

test("transactions of every era have their known hashes", (t) => {
  const vectors = eraVectors();
  if (vectors === undefined) return t.skip("no shared/vectors beside the project");
  for (const { kind, hex, expect } of vectors) {
    if (kind !== "tx") continue;
    const tx = readTransaction(fromHex(hex));
    assert.equal(toHex(writeTransaction(tx)), hex);
    assert.equal(toHex(transactionHash(tx)), expect.hash);
    assert.equal(toHex(transactionPrefixHash(tx)), expect.prefix_hash);
    assert.equal(tx.ringct?.type, expect.rct_type);
    if (tx.ringct !== undefined) {
      assert.equal(toHex(prunableHash(tx)), expect.prunable_hash);
      const pruned = readTransaction(writePrunedTransaction(tx), { pruned: true });
      assert.equal(toHex(transactionHash(pruned, prunableHash(tx))), expect.hash);
    }
    const images = keyImagesOf(tx.prefix).map(toHex);
    assert.deepEqual(images, expect.key_images);
  }
});

test("every shortened transaction is refused", () => {
  const blob = someTransactions[0]!;
  for (let length = 0; length < blob.length; length++) {
    assert.throws(() => readTransaction(blob.subarray(0, length)), BadBytes);
  }
});

test("bytes after a transaction are refused", () => {
  assert.throws(() => readTransaction(new Uint8Array([...someTransactions[0]!, 0])), BadBytes);
});

test("a transaction with any bytes changed is a value that writes back to the same bytes, or BadBytes", () => {
  const blob = someTransactions[0]!;
  const changes = fc.array(fc.tuple(fc.nat(120), fc.integer({ min: 0, max: 255 })), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(changes, (changed) => {
      const bytes = blob.slice();
      for (const [at, value] of changed) bytes[at] = value;
      try {
        assert.deepEqual(writeTransaction(readTransaction(bytes)), bytes);
      } catch (error) {
        assert.ok(error instanceof BadBytes, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});

test("arbitrary bytes are a value or BadBytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      for (const pruned of [false, true]) {
        try {
          readTransaction(bytes, { pruned });
        } catch (error) {
          assert.ok(error instanceof BadBytes, String(error));
        }
      }
    }),
  );
});

test("a value read is independent of the bytes it was read from", () => {
  const bytes = someTransactions[0]!.slice();
  const tx = readTransaction(bytes);
  bytes.fill(0);
  assert.deepEqual(writeTransaction(tx), someTransactions[0]);
});

test("version 2 without inputs, version 0 and version 3 are refused", () => {
  for (const hex of ["0200000000", "0000000000", "0300000000"]) {
    assert.throws(() => readTransaction(fromHex(hex)), BadBytes);
  }
  assert.equal(readTransaction(fromHex("0100000000")).prefix.inputs.length, 0);
});

test("script inputs and outputs are read in version 1", () => {
  const key = "11".repeat(32);
  const inputs = `0200${key}0502aabb01${key}0701${key}01cc00`;
  const outputs = `020500${"01"}${key}02dddd0601${key}`;
  const hex = `0100${inputs}${outputs}00`;
  const tx = readTransaction(fromHex(hex));
  assert.deepEqual(
    tx.prefix.inputs.map(({ type }) => type),
    ["script", "scriptHash"],
  );
  assert.deepEqual(
    tx.prefix.outputs.map(({ target }) => target.type),
    ["script", "scriptHash"],
  );
  assert.equal(toHex(writeTransaction(tx)), hex);
  // Each input has its signatures, were they none.
  for (const signatures of [[], [[]], [[], [], []]])
    assert.throws(() => writeTransaction({ ...tx, signatures }), RangeError);
});

test("ring offsets turn absolute and back", () => {
  const indices = fc.uniqueArray(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { maxLength: 20 });
  fc.assert(
    fc.property(indices, (absolute) => {
      const sorted = [...absolute].sort((a, b) => (a < b ? -1 : 1));
      assert.deepEqual(absoluteOffsets(relativeOffsets(absolute)), sorted);
    }),
  );
});
