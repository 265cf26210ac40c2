import assert from "node:assert/strict";
import { test } from "node:test";
import {
  commitmentMask,
  derivationToScalar,
  generateKeyDerivation,
  generateTxProofs,
  keccak256,
  keyImageOf,
  proveKeyImages,
  publicKeyOf,
  type RandomSource,
  randomScalar,
  scAdd,
  scalarMult,
  scReduce32,
  signMessageHash,
  subaddressSecretKey,
} from "@anulo/crypto";
import { toHex } from "@anulo/protocol";
import { cosign } from "../src/actions/cosign.ts";
import { ownOutputsOf } from "../src/cold-signing/construction.ts";
import { previewOf } from "../src/cold-signing/prepare-unsigned.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { ownOneTimeSecret, signerKeyOf, sumOfSecrets } from "../src/multisig/account-keys.ts";
import { proposeTransaction } from "../src/multisig/propose.ts";
import { formatMultisigSeed, parseMultisigSeed } from "../src/multisig/seed.ts";
import { sealMultisigSet, unsealMultisigSet } from "../src/multisig/tx-set.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { proveSpent } from "../src/proofs/spend-proof.ts";
import { oneTimeSecret } from "../src/scan/scan-transaction.ts";
import type { SpendKeys } from "../src/state.ts";
import { sign } from "../src/transfer/sign.ts";
import { accounts, outputs as shared, walletOf, whole } from "./multisig-fixture.ts";
import { destinationOf, receive, receiverOf, ringAround, seededRandom } from "./transfer-fixture.ts";
import { watchBytes } from "./watched-bytes.ts";

const seeded = seededRandom("wiped");
const alice = createKeys(seeded);
const bob = createKeys(seeded);
const change = receiverOf(alice);
const paymentId = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
const inputs = [
  receive(alice, { amount: 700_000n, globalIndex: 1000 }, seeded),
  receive(alice, { amount: 900_000n, globalIndex: 3003, subaddress: { major: 0, minor: 3 } }, seeded),
];
const rings = inputs.map((input) => ringAround(input, seeded));
const destinations = [destinationOf(bob, 1_000_000n), destinationOf(bob, 5n, { major: 0, minor: 1 })];
const ringed = { inputs, rings, destinations, change: 599_895n, fee: 100n, unlockTime: 0n };
const withId = { ...ringed, destinations: [destinationOf(bob, 1_000_005n, undefined, paymentId)] };

/** What spends an output: its derivation, the one-time secret and their parts. */
function secretsOf(keys: SpendKeys, outputs: readonly OwnedOutput[]): Uint8Array[] {
  return outputs.flatMap(({ txPublicKey, outputIndex, subaddress }) => {
    const derivation = generateKeyDerivation(txPublicKey, keys.viewSecret);
    const part = subaddressSecretKey(keys.viewSecret, subaddress.major, subaddress.minor);
    return [
      derivation,
      scalarMult(keys.viewSecret, txPublicKey),
      derivationToScalar(derivation, outputIndex),
      oneTimeSecret(keys, { derivation, outputIndex, subaddress }),
      part,
      scAdd(keys.spendSecret, part),
    ];
  });
}

/** What the sender shares with the receivers of a transaction. */
function sharedWith(txKeys: readonly Uint8Array[]): Uint8Array[] {
  return [change, ...destinations].flatMap(({ viewPublic }) =>
    txKeys.flatMap((key) => {
      const derivation = generateKeyDerivation(viewPublic, key);
      const amountKeys = [0, 1, 2].map((at) => derivationToScalar(derivation, at));
      return [derivation, ...amountKeys, ...amountKeys.map(commitmentMask)];
    }),
  );
}

/**
 * That nothing is left of these secrets, nor of random numbers, but for those that a result has: rings are filled up with
 * some, and some are what was asked for.
 */
function assertWiped(
  watched: ReturnType<typeof watchBytes>,
  secrets: readonly Uint8Array[],
  result: readonly Uint8Array[],
): void {
  watched.stop();
  const scalars = [...watched.random].map((hex) => toHex(scReduce32(Buffer.from(hex, "hex"))));
  assert.ok(scalars.length > 0);
  const shown = result.map(toHex);
  const hidden = [...watched.random, ...scalars].filter((hex) => !shown.some((each) => each.includes(hex)));
  assert.deepEqual(watched.remaining([...hidden, ...secrets.map(toHex)]), {});
}

const aliceWith = (random: RandomSource) => ({ keys: alice, change, random });

for (const [what, planned] of Object.entries({
  "to several addresses": ringed,
  "with a payment id": withId,
  "with outputs of visible amounts": { ...ringed, isVisible: true },
}))
  test(`a payment ${what} leaves its transaction keys, and nothing else that is secret`, (t) => {
    const watched = watchBytes(t);
    const { blob, txKeys } = sign(planned, aliceWith(watched.from(seeded)));
    watched.stop();
    assertWiped(watched, [...secretsOf(alice, inputs), ...sharedWith(txKeys)], [blob, ...txKeys]);
  });

test("proofs about outputs and texts leave nothing that is secret", async (t) => {
  const [prefixHash, secretKey] = [keccak256(paymentId), new Uint8Array(randomScalar(seeded))];
  const publicKey = publicKeyOf(secretKey);
  const keyImage = keyImageOf(publicKey, secretKey);
  const secret = toHex(secretKey);
  const watched = watchBytes(t);
  const random = watched.from(seeded);
  const claims = [undefined, bob.spendPublic].map((B) => ({
    ...{ prefixHash, R: publicKey, A: bob.viewPublic, version: 2 as const },
    ...(B !== undefined && { B }),
  }));
  const proofs = generateTxProofs(claims, secretKey, random).map(({ proof }) => proof);
  const images = [{ prefixHash, publicKey, keyImage }];
  proofs.push(
    ...proveKeyImages(images, [secretKey], random),
    signMessageHash(prefixHash, publicKey, secretKey, random),
  );
  const claim = { txHash: prefixHash, message: paymentId, rings: [{ keyImage, keys: [publicKey] }] };
  await proveSpent(claim, () => ({ oneTimeKey: publicKey, secretKey }), random);
  watched.stop();
  assertWiped(watched, [Buffer.from(secret, "hex")], proofs);
});

test("what a view-only wallet hands out, and the signer takes back, leaves nothing that is secret", (t) => {
  const watched = watchBytes(t);
  const random = watched.from(seeded);
  previewOf(ringed, alice, seeded);
  const { transaction, blob, txKeys } = sign(ringed, aliceWith(random));
  const finder = {
    keys: alice,
    indexOfSpendKey: (key: Uint8Array) =>
      toHex(key) === toHex(alice.spendPublic) ? { major: 0, minor: 0 } : undefined,
  };
  const own = ownOutputsOf(transaction, finder);
  watched.stop();
  assert.equal(own.length, 1);
  const derivations = txKeys.map((key) => generateKeyDerivation(alice.viewPublic, key));
  const spending = derivations.map((derivation) =>
    oneTimeSecret(alice, {
      ...{ derivation, subaddress: { major: 0, minor: 0 } },
      outputIndex: transaction.prefix.outputs.findIndex(
        ({ target }) => target.type === "taggedKey" && toHex(target.key) === toHex(own[0]!.oneTimeKey),
      ),
    }),
  );
  assertWiped(watched, [...secretsOf(alice, inputs), ...derivations, ...spending], [blob, ...txKeys]);
});

/** All bytes in a value. */
function bytesIn(value: unknown): Uint8Array[] {
  if (value instanceof Uint8Array) return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(bytesIn) : [];
}

test("signers of a shared wallet leave neither nonces nor their parts of the keys", async (t) => {
  const [first, second] = accounts;
  const [proposer, cosigner] = [walletOf(first), walletOf(second)];
  const nonces = shared.flatMap(({ oneTimeKey }) => {
    const key = toHex(oneTimeKey);
    const own = Array.from({ length: 4 }, () => randomScalar(seeded));
    cosigner.state.multisigNonces.set(key, own);
    const points = own.map((nonce) => ({ L: publicKeyOf(nonce), R: keyImageOf(oneTimeKey, nonce) }));
    proposer.state.multisigInfos.set(key, [
      { signer: signerKeyOf(second), nonces: points, partialKeyImages: [] },
    ]);
    return own.map((nonce) => nonce.slice());
  });
  const planned = {
    inputs: shared,
    rings: shared.map((output) => ringAround(output, seeded)),
    destinations: [destinationOf(bob, 600n)],
    ...{ change: 300n, fee: 100n, unlockTime: 0n },
  };
  const parts = accounts.flatMap((account) => [
    sumOfSecrets(account.shares),
    ...shared.map((output) => ownOneTimeSecret(account, output)),
  ]);
  const derivations = shared.map(({ txPublicKey }) => generateKeyDerivation(txPublicKey, whole.viewSecret));
  const secrets = [...nonces, ...parts, ...derivations];
  const proposing = watchBytes(t);
  const options = { account: first, wallet: proposer, change: receiverOf(whole) };
  const { pending } = await proposeTransaction(planned, options);
  assertWiped(proposing, secrets, bytesIn(pending));
  const set = { transactions: [pending], signers: [signerKeyOf(first)] };
  const handedOn = (await unsealMultisigSet(await sealMultisigSet(set, proposer), cosigner))!;
  const signing = watchBytes(t);
  const signed = await cosign(cosigner, second, handedOn);
  signing.stop();
  assert.equal(signed.txHashes.length, 1);
  assert.deepEqual(signing.remaining(secrets.map(toHex)), {});
});

test("a shared wallet's seed is read without leaving a copy of it", (t) => {
  const seed = formatMultisigSeed(accounts[0]);
  const watched = watchBytes(t);
  const account = parseMultisigSeed(seed);
  const read = [account.baseSecret, ...account.shares];
  const secrets = read.map(toHex);
  for (const secret of read) secret.fill(0);
  assert.throws(() => parseMultisigSeed(seed.replace(/.{64}$/, "0".repeat(64))));
  watched.stop();
  assert.deepEqual(watched.remaining(secrets), {});
});
