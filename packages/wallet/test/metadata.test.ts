/** The data of a transaction that waits to be relayed: each field, and the bytes that the original reads. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { BadBytes, decode, encode, formatAddress, keyImagesOf, toHex } from "@anulo/protocol";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import {
  constructionData,
  destinationValue,
  feeOfConstruction,
  flag,
  type PendingTransaction,
  pendingOf,
  pendingTransaction,
  readMetadata,
  type SigningAttempt,
  uint64,
  version,
  writeMetadata,
} from "../src/transfer/metadata.ts";
import type { Destination, SignedTransaction } from "../src/transfer/stages.ts";
import { ledgerOf } from "./many-outputs.ts";
import { recordedChain } from "./recorded-node.ts";

const key = (byte: number) => new Uint8Array(32).fill(byte);
const [transaction] = recordedChain.flatMap(({ transactions }) => transactions);
const change = { spendPublic: key(1), viewPublic: key(2), isSubaddress: false };
const destination: Destination = {
  ...{ address: "düne", spendPublic: key(3), viewPublic: key(4), isSubaddress: true },
  ...{ amount: 5n, paymentId: undefined },
};

/** A signed transaction of two inputs, of addresses 7 and 2, in this order. */
function signedOf(more: Partial<SignedTransaction> = {}): SignedTransaction {
  const [first, second] = [
    ...ledgerOf({ count: 2, amount: (i) => BigInt(10 + i), addresses: 1 }).state.outputs,
  ] as [OwnedOutput, OwnedOutput];
  const members = [50, 60, 70].map((globalIndex) => ({
    globalIndex,
    key: key(globalIndex),
    commitment: key(9),
  }));
  return {
    inputs: [
      { ...first, txPublicKey: key(5), mask: key(6), outputIndex: 3, subaddress: { major: 4, minor: 7 } },
      { ...second, txPublicKey: key(5), mask: key(6), rct: false, subaddress: { major: 4, minor: 2 } },
    ],
    rings: [
      { members, realIndex: 1 },
      { members, realIndex: 2 },
    ],
    ...{ destinations: [destination], change: 8n, fee: 8n, unlockTime: 0n },
    ...{ txKeys: [key(11), key(12), key(13)], transaction: transaction! },
    ...more,
  } as unknown as SignedTransaction;
}

const pending = (more: Partial<SignedTransaction> = {}) =>
  pendingOf(signedOf(more), { change, indexOf: ({ amount }) => Number(amount) + 90 });

test("what waits has all that the transaction was built from", () => {
  const { transaction: sent, constructionData: built, ...rest } = pending();
  assert.equal(sent, transaction);
  const changeValue = {
    ...{ original: new Uint8Array(0), amount: 8n, spendPublic: key(1), viewPublic: key(2) },
    ...{ isSubaddress: 0, isIntegrated: 0 },
  };
  const paid = {
    ...{ original: new TextEncoder().encode("düne"), amount: 5n, spendPublic: key(3), viewPublic: key(4) },
    ...{ isSubaddress: 1, isIntegrated: 0 },
  };
  const images = keyImagesOf(transaction!.prefix).map((image) => `<${toHex(image)}> `);
  assert.deepEqual(rest, {
    ...{ version: 1, dust: 0n, fee: 8n, dustAddedToFee: 0, change: changeValue },
    ...{ selectedTransfers: [100n, 101n], keyImages: new TextEncoder().encode(images.join("")) },
    ...{ txKey: key(11), additionalTxKeys: [key(12), key(13)], destinations: [paid] },
    ...{ multisigSignatures: [], multisigEntropy: key(0) },
  });
  const { sources, splitDestinations, ...construction } = built;
  assert.deepEqual(construction, {
    ...{ flags: 3, rctConfigVersion: 0, rangeProofType: 3, bulletproofVersion: 4 },
    ...{ change: changeValue, selectedTransfers: [100n, 101n], extra: transaction!.prefix.extra },
    ...{ unlockTime: 0n, destinations: [paid], account: 4, subaddressIndices: [2, 7] },
  });
  assert.deepEqual(splitDestinations, [paid, changeValue]);
  assert.deepEqual(sources[0], {
    outputs: [50, 60, 70].map((index) => {
      return { pairSize: 2, globalIndex: BigInt(index), key: key(index), commitment: key(9) };
    }),
    ...{ realOutput: 1n, txPublicKey: key(5), additionalTxPublicKeys: [], outputIndex: 3n },
    ...{ amount: 10n, rct: 1, mask: key(6), multisig: new Uint8Array(128) },
  });
  assert.deepEqual([sources[1]!.rct, sources[1]!.realOutput, sources[1]!.outputIndex], [0, 2n, 0n]);
  assert.equal(feeOfConstruction(built), 10n + 11n - 5n - 8n);
});

test("a transaction of public amounts is built otherwise, and says what each digit pays", () => {
  const { constructionData: built } = pending({ isVisible: true, change: 30_000_000_000n });
  const { flags, rctConfigVersion, rangeProofType, bulletproofVersion } = built;
  assert.deepEqual([flags, rctConfigVersion, rangeProofType, bulletproofVersion], [2, 0, 0, 0]);
  assert.deepEqual(
    built.splitDestinations.map(({ original, amount }) => [original.length, amount]),
    [
      [0, 5n],
      [0, 30_000_000_000n],
    ],
  );
});

test("a receiver's value tells its kind, and no amount or text where there is none", () => {
  assert.deepEqual(destinationValue(change), {
    ...{ original: new Uint8Array(0), amount: 0n, spendPublic: key(1), viewPublic: key(2) },
    ...{ isSubaddress: 0, isIntegrated: 0 },
  });
  const paymentId = new Uint8Array(8);
  const integrated = formatAddress(
    { kind: "integrated", spendPublic: key(1), viewPublic: key(2), paymentId },
    "mainnet",
  );
  const { isIntegrated, original } = destinationValue({ ...destination, address: integrated, paymentId });
  assert.deepEqual([isIntegrated, Buffer.from(original).toString()], [1, integrated]);
});

const attempt: SigningAttempt = {
  ...{ version: 1, ringctType: 0, ringctMessage: key(21), ringct: Array(11).fill(0), msout: [0, 0] },
  ...{ ignoredSigners: [key(22)], usedNonces: [key(23)], signingKeys: [], totalNoncesL: [[key(24)]] },
  ...{ totalNoncesR: [[key(25), key(26)]], c1: [key(27)], s: [key(28)] },
};

/** As it is, but for bytes of the transaction, which is the same in each. */
const hashOf = (value: PendingTransaction): string =>
  createHash("sha256").update(encode(pendingTransaction, value)).digest("hex").slice(0, 16);

test("metadata is read back as it was written, in the bytes of ever", () => {
  const waiting = pending();
  assert.deepEqual(readMetadata(writeMetadata(waiting)), waiting);
  const ofSeveral = { ...waiting, multisigSignatures: [attempt], multisigEntropy: key(31) };
  assert.deepEqual(decode(pendingTransaction, encode(pendingTransaction, ofSeveral)), ofSeveral);
  assert.throws(() => readMetadata(writeMetadata(ofSeveral)), /a transaction of several signers/);
  assert.throws(() => readMetadata(Buffer.concat([writeMetadata(waiting), Uint8Array.of(0)])), BadBytes);
  assert.throws(() => readMetadata(writeMetadata(waiting).subarray(0, -1)), BadBytes);
  assert.deepEqual([hashOf(waiting), hashOf(ofSeveral)], ["bcdee50e4a015171", "e54b35cb2a2603d1"]);
});

test("what the original never writes is not written", () => {
  const waiting = pending();
  const built = waiting.constructionData;
  const [source] = built.sources;
  const wrong: readonly Partial<PendingTransaction>[] = [
    { version: 0 },
    { version: 2 },
    { dustAddedToFee: 2 },
    { change: { ...waiting.change, isSubaddress: 2 } },
    { change: { ...waiting.change, isIntegrated: 2 } },
    { multisigSignatures: [{ ...attempt, version: 0 }] },
    { multisigSignatures: [{ ...attempt, version: 2 }] },
    { multisigSignatures: [{ ...attempt, ringctType: 1 }] },
    { multisigSignatures: [{ ...attempt, ringct: [1, ...Array(10).fill(0)] }] },
    { multisigSignatures: [{ ...attempt, msout: [0, 1] }] },
    { constructionData: { ...built, rctConfigVersion: 1 } },
    { constructionData: { ...built, sources: [{ ...source!, rct: 2 }] } },
    ...[1, 3].map((pairSize) => {
      const outputs = source!.outputs.map((member) => ({ ...member, pairSize }));
      return { constructionData: { ...built, sources: [{ ...source!, outputs }] } };
    }),
  ];
  for (const [i, more] of wrong.entries()) {
    const writeAndRead = () =>
      decode(pendingTransaction, encode(pendingTransaction, { ...waiting, ...more }));
    assert.throws(writeAndRead, RangeError, `${i}`);
  }
  assert.deepEqual(decode(constructionData, encode(constructionData, built)), built);
});

test("numbers are eight bytes, the least significant first; flags and versions are single values", () => {
  const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 0x88);
  assert.equal(decode(uint64, bytes), 0x8807060504030201n);
  assert.deepEqual(encode(uint64, 0x8807060504030201n), bytes);
  assert.deepEqual([decode(flag, Uint8Array.of(0)), decode(flag, Uint8Array.of(1))], [0, 1]);
  assert.throws(() => decode(flag, Uint8Array.of(2)), /neither true nor false/);
  assert.equal(decode(version(3), Uint8Array.of(3)), 3);
  for (const other of [2, 4])
    assert.throws(() => decode(version(3), Uint8Array.of(other)), /unknown version/);
});
