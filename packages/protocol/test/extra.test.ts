import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  additionalPublicKeys,
  BadBytes,
  decodeBase58,
  encodeBase58,
  encryptedPaymentId,
  fromHex,
  longPaymentId,
  parseExtra,
  paymentIdNonce,
  readBlock,
  readTransaction,
  splitExtra,
  toHex,
  txPublicKey,
  txPublicKeys,
  writeExtra,
} from "../src/index.ts";
import { recordedBlocks, recordedTransactions } from "./fixtures.ts";

const key = "11".repeat(32);
const types = (hex: string) => parseExtra(fromHex(hex)).map(({ type }) => type);

test("extra of every recorded transaction is read whole and written the same", () => {
  const extras = [
    ...recordedTransactions.map((hex) => readTransaction(fromHex(hex)).prefix.extra),
    ...recordedBlocks.map(({ block }) => readBlock(fromHex(block)).minerTransaction.prefix.extra),
  ];
  for (const extra of extras) {
    const { fields, unparsed } = splitExtra(extra);
    assert.equal(unparsed.length, 0);
    assert.equal(toHex(writeExtra(fields)), toHex(extra));
    assert.equal(txPublicKey(fields)?.length, 32);
  }
});

test("payments carry an encrypted payment id or additional keys", () => {
  const extras = recordedTransactions.map((hex) => parseExtra(readTransaction(fromHex(hex)).prefix.extra));
  assert.ok(extras.some((fields) => encryptedPaymentId(fields)?.length === 8));
  assert.ok(extras.some((fields) => additionalPublicKeys(fields).length > 2));
});

test("fields are taken up to the first damaged one", () => {
  const good = `01${key}`;
  const { fields, unparsed } = splitExtra(fromHex(`${good}05aabb`));
  assert.deepEqual(fields, [{ type: "publicKey", key: fromHex(key) }]);
  assert.equal(toHex(unparsed), "05aabb");
  assert.deepEqual(types(`${good}0205aa`), ["publicKey"]);
  assert.deepEqual(types(`${good}01aabb`), ["publicKey"]);
  assert.deepEqual(types(`0501${good}`), []);
  assert.deepEqual(types(""), []);
});

test("padding lasts to the end, is all zero and at most 255 bytes with its tag", () => {
  assert.deepEqual(types("00"), ["padding"]);
  assert.deepEqual(types("00".repeat(255)), ["padding"]);
  assert.deepEqual(types("00".repeat(256)), []);
  assert.deepEqual(types(`0000${`01${key}`}`), []);
});

test("a tag or size at the very end counts as size zero, as in the original", () => {
  assert.deepEqual(types(`01${key}02`), ["publicKey", "nonce"]);
  assert.deepEqual(types("04"), ["additionalPublicKeys"]);
  assert.deepEqual(types("de"), ["minergate"]);
  assert.deepEqual(types("0280"), ["nonce"]);
  assert.deepEqual(types("028000"), []);
  assert.deepEqual(types("0281"), []);
});

test("a nonce has at most 255 bytes", () => {
  assert.deepEqual(types(`02ff01${"aa".repeat(255)}`), ["nonce"]);
  assert.deepEqual(types(`028002${"aa".repeat(256)}`), []);
  assert.throws(() => writeExtra([{ type: "nonce", nonce: new Uint8Array(256) }]), RangeError);
});

test("a merge mining tag has a depth and a root within its size", () => {
  const extra = fromHex(`032107${key}`);
  assert.deepEqual(parseExtra(extra), [{ type: "mergeMining", depth: 7n, merkleRoot: fromHex(key) }]);
  assert.deepEqual(writeExtra(parseExtra(extra)), extra);
  assert.deepEqual(types(`032207${key}00`), []);
});

test("writing puts kinds in order and keeps the order within a kind", () => {
  const other = "22".repeat(32);
  const mixed = fromHex(`de01aa0201bb01${key}0401${other}01${other}00`);
  assert.equal(toHex(writeExtra(parseExtra(mixed))), `01${key}01${other}0401${other}0201bbde01aa00`);
  assert.equal(txPublicKeys(parseExtra(mixed)).length, 2);
});

test("payment ids are read from the nonce that carries them", () => {
  const short = fromHex("0102030405060708");
  const long = fromHex(key);
  assert.deepEqual(encryptedPaymentId([paymentIdNonce(short)]), short);
  assert.deepEqual(longPaymentId([paymentIdNonce(long)]), long);
  assert.equal(encryptedPaymentId([paymentIdNonce(long)]), undefined);
  assert.equal(longPaymentId([]), undefined);
  assert.throws(() => paymentIdNonce(new Uint8Array(9)), RangeError);
});

test("any bytes are fields and a rest", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (extra) => {
      const { fields, unparsed } = splitExtra(extra);
      assert.ok(unparsed.length <= extra.length);
      assert.ok(fields.length > 0 || unparsed.length === extra.length);
    }),
  );
});

test("base 58 reads back, and other text is refused", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      assert.deepEqual(decodeBase58(encodeBase58(bytes)), bytes);
    }),
  );
  assert.equal(encodeBase58(fromHex("00")), "11");
  assert.equal(encodeBase58(fromHex("ffffffffffffffff")), "jpXCZedGfVQ");
  for (const bad of ["1", "1111", "11111111", "0O", "zz", "jpXCZedGfVR", "é1", "11111111111" + "1"]) {
    assert.throws(() => decodeBase58(bad), BadBytes, bad);
  }
});
