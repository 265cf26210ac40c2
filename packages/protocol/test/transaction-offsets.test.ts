import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { findExtraKeys } from "../src/extra.ts";
import {
  additionalPublicKeys,
  BadBytes,
  fromHex,
  outputKey,
  parseExtra,
  Reader,
  readBlock,
  readBlockTop,
  readTransaction,
  readTransactionPrefix,
  sumAmounts,
  type TransactionPrefix,
  toHex,
  txPublicKeys,
  writeTransaction,
} from "../src/index.ts";
import { NO_KEY, NO_VIEW_TAG, TransactionOffsets } from "../src/transaction-offsets.ts";
import { recordedBlocks, recordedTransactions } from "./fixtures.ts";

/** What the offsets of a transaction's bytes point at. */
function contentOf(blob: Uint8Array, offsets: TransactionOffsets) {
  const keyAt = (at: number) => (at === NO_KEY ? undefined : toHex(blob.subarray(at, at + 32)));
  return {
    version: offsets.version,
    minerHeight: offsets.minerHeight,
    amountOut: offsets.amountOut,
    keyImages: offsets.keyImages.map(keyAt),
    outputKeys: offsets.outputKeys.map(keyAt),
    viewTags: [...offsets.viewTags],
    publicKeys: offsets.publicKeys.map(keyAt),
    additionalKeys: offsets.additionalKeys.map(keyAt),
  };
}

/** The same, of its value. */
function factsOf({ version, inputs, outputs, extra }: TransactionPrefix): ReturnType<typeof contentOf> {
  const fields = outputs.length === 0 ? [] : parseExtra(extra);
  const [first] = inputs;
  return {
    version,
    minerHeight: first?.type === "generation" ? first.height : undefined,
    amountOut: sumAmounts(outputs),
    keyImages: inputs.flatMap((input) => (input.type === "key" ? [toHex(input.keyImage)] : [])),
    outputKeys: outputs.map((output) => {
      const key = outputKey(output);
      return key && toHex(key);
    }),
    viewTags: outputs.map(({ target }) => (target.type === "taggedKey" ? target.viewTag : NO_VIEW_TAG)),
    publicKeys: txPublicKeys(fields).map((key) => toHex(key)),
    additionalKeys: additionalPublicKeys(fields).map((key) => toHex(key)),
  };
}

const offsets = new TransactionOffsets();

/** The same object is used again and again, as a scan does. */
function check(blob: Uint8Array, from = 0): void {
  const reader = new Reader(blob, from);
  offsets.find(reader);
  assert.deepEqual(contentOf(blob, offsets), factsOf(readTransactionPrefix(blob.subarray(from))));
}

test("the offsets of every recorded transaction point at what its value has", () => {
  for (const hex of recordedTransactions) check(fromHex(hex));
  for (const { block } of recordedBlocks) {
    const { header, minerTransaction } = readBlock(fromHex(block));
    const bytes = Uint8Array.from([7, 7, 7, ...writeTransaction(minerTransaction)]);
    check(bytes, 3);
    assert.deepEqual(readBlockTop(fromHex(block)), {
      header,
      reward: sumAmounts(minerTransaction.prefix.outputs),
    });
  }
});

test("the reader stands behind the prefix, whatever follows", () => {
  const blob = fromHex(recordedTransactions[0]!);
  const reader = new Reader(blob);
  offsets.find(reader);
  const end = reader.position;
  assert.ok(end < blob.length);
  offsets.find(new Reader(blob.subarray(0, end)));
  assert.throws(() => offsets.find(new Reader(blob.subarray(0, end - 1))), BadBytes);
});

const key = "11".repeat(32);
const scriptInputs = `0200${key}0502aabb01${key}0701${key}01cc00`;

test("inputs and outputs of every kind are found or gone over", () => {
  const outputs = `04${"05"}00${"01"}${key}02dddd${"06"}01${key}${"8001"}02${key}${"00"}03${key}09`;
  check(fromHex(`0100${scriptInputs}${outputs}00`));
  assert.equal(offsets.amountOut, 5n + 6n + 128n);
  assert.deepEqual(offsets.viewTags, [NO_VIEW_TAG, NO_VIEW_TAG, NO_VIEW_TAG, 9]);
  // Every byte is a view tag.
  assert.ok(NO_VIEW_TAG > 0xff);
  assert.deepEqual(offsets.outputKeys.slice(0, 2), [NO_KEY, NO_KEY]);
  check(fromHex(`010001ff8101010502${key}2101${key}`));
  assert.equal(offsets.minerHeight, 129);
  check(fromHex("0100000000"));
  // Of outputs that nobody has, no key is looked for.
  check(fromHex(`010001ff05002101${key}`));
  assert.deepEqual(offsets.publicKeys, []);
});

test("a prefix is refused where its value is", () => {
  const bad = {
    "version 0": "0000000000",
    "version 3": `030001ff050000`,
    "version 2 without inputs": "0200000000",
    "a generation input beside another": `010002ff05ff060000`,
    "an unknown input": "010001030000",
    "an unknown output": `010001ff05010504${key}00`,
    "more inputs than bytes": "01007f00",
    "more ring members than bytes": `0100010205ff01${key}`,
    "more outputs than bytes": "010001ff057f00",
    "more keys of a script than bytes": `010001ff0501057f00`,
    "an extra longer than the bytes": `010001ff050005aabb`,
  };
  for (const [what, hex] of Object.entries(bad)) {
    assert.throws(() => readTransaction(fromHex(hex)), BadBytes, what);
    assert.throws(() => offsets.find(new Reader(fromHex(hex))), BadBytes, what);
  }
});

test("with any bytes changed, the offsets are those of the value, or both are refused", () => {
  const blobs = [recordedTransactions[0]!, `0100${scriptInputs}01051${"2"}${key}00`].map((hex) =>
    fromHex(hex),
  );
  const blob = fc.constantFrom(...blobs);
  fc.assert(
    fc.property(blob, fc.nat(300), fc.integer({ min: 0, max: 255 }), (whole, at, value) => {
      const bytes = whole.slice();
      if (at < bytes.length) bytes[at] = value;
      let prefix: TransactionPrefix;
      try {
        prefix = readTransactionPrefix(bytes);
      } catch (error) {
        assert.ok(error instanceof BadBytes, String(error));
        assert.throws(() => offsets.find(new Reader(bytes)), BadBytes);
        return;
      }
      // Of the prefix alone that is not refused.
      if (prefix.version === 2 && prefix.inputs.length === 0) return;
      offsets.find(new Reader(bytes));
      assert.deepEqual(contentOf(bytes, offsets), factsOf(prefix));
    }),
    { numRuns: 500 },
  );
});

/** Pieces of extras, whole and damaged, so that most have some that are read and some that end the reading. */
const pieces = fc.oneof(
  fc.constantFrom(
    `01${key}`,
    `01${"22".repeat(32)}`,
    `01${"33".repeat(31)}`,
    "0203aabbcc",
    "0200",
    "02",
    "0205aa",
    `028001${"44".repeat(128)}`,
    `02ff01${"55".repeat(255)}`,
    `028002${"66".repeat(256)}`,
    `032100${key}`,
    "0302aabb",
    `0402${key}${"77".repeat(32)}`,
    `0401${key}`,
    "0400",
    "0403",
    "de02aabb",
    "de",
    "00",
    "0000",
  ),
  fc.uint8Array({ maxLength: 3 }).map((bytes) => toHex(bytes)),
);

test("the keys of an extra are those of its fields, up to the first damaged one", () => {
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 6 }), fc.nat(5), (parts, before) => {
      const extra = fromHex(parts.join(""));
      const bytes = Uint8Array.from([...new Uint8Array(before).fill(1), ...extra, ...fromHex(`01${key}`)]);
      const found = { publicKeys: [] as number[], additionalKeys: [] as number[] };
      findExtraKeys(bytes, { start: before, end: before + extra.length }, found);
      const keysAt = (places: readonly number[]) => places.map((at) => toHex(bytes.subarray(at, at + 32)));
      const fields = parseExtra(extra);
      assert.deepEqual(
        keysAt(found.publicKeys),
        txPublicKeys(fields).map((each) => toHex(each)),
      );
      assert.deepEqual(
        keysAt(found.additionalKeys),
        additionalPublicKeys(fields).map((each) => toHex(each)),
      );
    }),
    { numRuns: 400 },
  );
});
