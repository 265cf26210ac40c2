import assert from "node:assert/strict";
import { randomFillSync } from "node:crypto";
import { test } from "node:test";
import {
  checkRingSignature,
  commitmentsBalance,
  derivePublicKey,
  generateKeyDerivation,
  verifyBulletproofsPlus,
  verifyClsag,
} from "@anulo/crypto";
import {
  concatBytes,
  encryptedPaymentId,
  parseExtra,
  readTransaction,
  ringCtMessage,
  sumAmounts,
  toHex,
  transactionHash,
  transactionPrefixHash,
  txPublicKey,
} from "@anulo/protocol";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { KeyHashes, KeySet } from "../src/outputs/key-set.ts";
import { scanTransactions } from "../src/scan/candidates.ts";
import { SubaddressTable } from "../src/scan/subaddress-table.ts";
import type { WalletKeys } from "../src/state.ts";
import { pendingOf, readMetadata, writeMetadata } from "../src/transfer/metadata.ts";
import { sign } from "../src/transfer/sign.ts";
import type { Destination, SignedTransaction } from "../src/transfer/stages.ts";
import { cryptPaymentId } from "../src/transfer/tx-keys.ts";
import { visibleOutputsOf } from "../src/transfer/visible.ts";
import { weightOf } from "../src/transfer/weigh.ts";
import { destinationOf, receive, receiverOf, ringAround, seededRandom } from "./transfer-fixture.ts";

const random = seededRandom("sign");
const alice = createKeys(random);
const bob = createKeys(random);
const carol = createKeys(random);
const FEE = 30_000_000n;

const inputs = [
  receive(alice, { amount: 700_000_000_000n, globalIndex: 1000 }, random),
  receive(alice, { amount: 900_000_000_000n, globalIndex: 3003, subaddress: { major: 0, minor: 3 } }, random),
];

function pay(destinations: Destination[], spent = inputs): SignedTransaction {
  const change = sumAmounts(spent) - sumAmounts(destinations) - FEE;
  const rings = spent.map((output) => ringAround(output, random));
  const ringed = { inputs: spent, destinations, change, fee: FEE, rings, unlockTime: 0n };
  const signer = { keys: alice, change: receiverOf(alice), random };
  const signed = sign(ringed, signer);
  assert.equal(signed.weight, weightOf(ringed, signer.change), "weighed what was foretold");
  return signed;
}

/** Everything a node checks about proofs and sums. */
function checkProofs({ transaction, inputs: spent, rings, blob, txHash }: SignedTransaction): void {
  assert.deepEqual(readTransaction(blob), transaction);
  assert.equal(toHex(transactionHash(readTransaction(blob))), toHex(txHash));
  const { prefix, ringct } = transaction;
  assert.ok(ringct && ringct.type === 6 && ringct.prunable);
  const images = prefix.inputs.map((input) => (input.type === "key" ? toHex(input.keyImage) : ""));
  assert.deepEqual(images, [...images].sort().reverse());
  const { pseudoOuts, outputCommitments, fee, prunable } = ringct;
  assert.ok(commitmentsBalance(pseudoOuts, outputCommitments, fee));
  const [proof] = prunable.bulletproofsPlus;
  assert.ok(verifyBulletproofsPlus([{ proof: proof!, commitments: outputCommitments }]));
  const message = ringCtMessage(transaction);
  for (const [i, image] of images.entries()) {
    const at = spent.findIndex((output) => toHex(output.keyImage!) === image);
    const ring = rings[at]!.members.map(({ key, commitment }) => ({ key, commitment }));
    const statement = { message, ring, pseudoOut: pseudoOuts[i]!, keyImage: spent[at]!.keyImage! };
    assert.ok(verifyClsag({ ...statement, proof: prunable.clsags[i]! }));
    assert.ok(!verifyClsag({ ...statement, message: new Uint8Array(32), proof: prunable.clsags[i]! }));
  }
}

/** Amounts a wallet finds in a transaction, by subaddress. */
function found(keys: WalletKeys, { blob, txHash }: SignedTransaction): string[] {
  const table = new SubaddressTable();
  for (const major of [0, 1]) {
    const spendKeys = Array.from({ length: 5 }, (_, minor) => receiverOf(keys, { major, minor }).spendPublic);
    table.add({ major, fromMinor: 0, keys: concatBytes(...spendKeys) });
  }
  const finder = { keys, table, cover: () => undefined, keyImages: new Map() };
  const [scanned] = scanTransactions(
    { ...finder, knownImages: new KeySet(new KeyHashes(randomFillSync)), skipsCoinbase: false },
    [
      {
        form: "whole",
        blob,
        txHash,
        globalIndices: [],
        coinbase: false,
        height: 0,
        timestamp: 0,
        blockVersion: 16,
      },
    ],
  );
  const received = scanned?.received ?? [];
  return received.map(({ amount, subaddress: { major, minor } }) => `${major}/${minor} ${amount}`);
}

test("a payment verifies, reaches its receiver and brings the change back", () => {
  const signed = pay([destinationOf(bob, 1_000_000_000_000n)]);
  checkProofs(signed);
  assert.deepEqual(found(bob, signed), ["0/0 1000000000000"]);
  assert.deepEqual(found(alice, signed), [`0/0 ${600_000_000_000n - FEE}`]);
  assert.deepEqual(found(carol, signed), []);
});

test("a payment without change has a second output that is nobody's", () => {
  const signed = pay([destinationOf(bob, sumAmounts(inputs) - FEE)]);
  checkProofs(signed);
  assert.equal(signed.transaction.prefix.outputs.length, 2);
  assert.equal(found(bob, signed).length, 1);
  assert.deepEqual(found(alice, signed), []);
});

test("a lone subaddress is paid with the main transaction key", () => {
  const signed = pay([destinationOf(bob, 5n, { major: 1, minor: 2 })]);
  checkProofs(signed);
  assert.equal(signed.txKeys.length, 1);
  assert.deepEqual(found(bob, signed), ["1/2 5"]);
  assert.equal(found(alice, signed).length, 1);
});

test("a subaddress beside other addresses gets an additional key for every output", () => {
  const signed = pay([
    destinationOf(bob, 5n, { major: 1, minor: 2 }),
    destinationOf(carol, 6n),
    destinationOf(carol, 7n, { major: 0, minor: 4 }),
  ]);
  checkProofs(signed);
  assert.equal(signed.txKeys.length, 1 + 4);
  assert.deepEqual(found(bob, signed), ["1/2 5"]);
  assert.deepEqual(found(carol, signed).sort(), ["0/0 6", "0/4 7"]);
  assert.equal(found(alice, signed).length, 1);
});

test("the change stands first as often as last", () => {
  const places = Array.from({ length: 40 }, () => {
    const { transaction, txKeys } = pay([destinationOf(bob, 5n)], inputs.slice(0, 1));
    const derivation = generateKeyDerivation(bob.viewPublic, txKeys[0]!);
    const { target } = transaction.prefix.outputs[0]!;
    const isPaid = toHex(derivePublicKey(derivation, 0, bob.spendPublic));
    return target.type === "taggedKey" && toHex(target.key) === isPaid;
  });
  const last = places.filter((isPaidFirst) => isPaidFirst).length;
  assert.ok(last > 8 && last < 32, `${last} of 40`);
});

test("fifteen destinations fit beside the change", () => {
  const signed = pay(Array.from({ length: 15 }, (_, i) => destinationOf(bob, BigInt(i + 1))));
  checkProofs(signed);
  assert.equal(found(bob, signed).length, 15);
});

test("one's own address can be paid", () => {
  const signed = pay([destinationOf(alice, 11n)]);
  checkProofs(signed);
  assert.equal(found(alice, signed).length, 2);
});

test("the payment id of an integrated address is readable by its receiver only", () => {
  const paymentId = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
  const signed = pay([destinationOf(bob, 5n, undefined, paymentId)]);
  const fields = parseExtra(signed.transaction.prefix.extra);
  const encrypted = encryptedPaymentId(fields)!;
  assert.deepEqual(cryptPaymentId(encrypted, txPublicKey(fields)!, bob.viewSecret), paymentId);
  assert.notDeepEqual(cryptPaymentId(encrypted, txPublicKey(fields)!, carol.viewSecret), paymentId);
});

test("a payment without payment id carries an encrypted dummy of zeros", () => {
  const signed = pay([destinationOf(bob, 5n)]);
  const fields = parseExtra(signed.transaction.prefix.extra);
  const plain = cryptPaymentId(encryptedPaymentId(fields)!, txPublicKey(fields)!, bob.viewSecret);
  assert.deepEqual(plain, new Uint8Array(8));
});

test("a payment id beside a second receiver is refused", () => {
  const paymentId = new Uint8Array(8).fill(9);
  assert.throws(() => pay([destinationOf(bob, 5n, undefined, paymentId), destinationOf(carol, 5n)]), {
    name: "WalletRefusal",
    code: -4,
  });
});

test("outputs no ring can hide are spent one by one, into an output for each digit", () => {
  const spent = inputs.map((output) => ({ ...output, rct: false, amount: 3_000_000_000_000n }));
  const rings = spent.map(({ oneTimeKey, globalIndex }) => {
    const member = { globalIndex: Number(globalIndex), key: oneTimeKey, commitment: oneTimeKey };
    return { members: [member], realIndex: 0 };
  });
  const destinations = [destinationOf(alice, 5_960_000_000_007n)];
  const fee = 39_999_999_993n;
  const signer = { keys: alice, change: receiverOf(alice), random };
  const ringed = { inputs: spent, destinations, change: 0n, fee, rings, unlockTime: 0n, isVisible: true };
  const signed = sign(ringed, signer);
  assert.equal(signed.weight, weightOf(ringed, signer.change));
  const { prefix, signatures } = readTransaction(signed.blob);
  assert.equal(prefix.version, 1);
  const amounts = prefix.outputs.map(({ amount }) => amount).sort((a, b) => Number(a - b));
  assert.deepEqual(amounts, [7n, 60_000_000_000n, 900_000_000_000n, 5_000_000_000_000n]);
  assert.equal(found(alice, signed).length, 4);
  for (const [i, input] of prefix.inputs.entries()) {
    assert.ok(input.type === "key" && input.amount === 3_000_000_000_000n);
    const { oneTimeKey } = spent.find(({ keyImage }) => toHex(keyImage!) === toHex(input.keyImage))!;
    const prefixHash = transactionPrefixHash({ prefix });
    const statement = { prefixHash, keyImage: input.keyImage, publicKeys: [oneTimeKey] };
    assert.ok(checkRingSignature(statement, signatures[i]!));
  }
});

test("metadata reads back as it was written", () => {
  const signed = pay([destinationOf(bob, 5n), destinationOf(carol, 6n)]);
  const pending = pendingOf(signed, {
    change: receiverOf(alice),
    indexOf: (output) => inputs.indexOf(output),
  });
  assert.deepEqual(readMetadata(writeMetadata(pending)), pending);
});

test("visible change is an output for each digit, but for digits of at most 2·10^9, which are left to the fee", () => {
  const changeOf = (change: bigint) =>
    visibleOutputsOf({ inputs, destinations: [], change, fee: FEE }, receiverOf(alice)).map(
      ({ amount }) => amount,
    );
  assert.deepEqual(changeOf(2_999_999_999n), []);
  assert.deepEqual(changeOf(3_000_000_001n), [3_000_000_000n]);
  assert.deepEqual(changeOf(12_000_000_000n), [10_000_000_000n]);
});
