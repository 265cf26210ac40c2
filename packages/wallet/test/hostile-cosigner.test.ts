import assert from "node:assert/strict";
import { test } from "node:test";
import { hashToScalar, keyImageOf, publicKeyOf, randomScalar } from "@anulo/crypto";
import { toHex } from "@anulo/protocol";
import { cosign } from "../src/actions/cosign.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { signerKeyOf } from "../src/multisig/account-keys.ts";
import { SigningRefused } from "../src/multisig/attempts.ts";
import {
  continueKeyExchange,
  firstMessage,
  KeyExchangeRefused,
  startKeyExchange,
} from "../src/multisig/key-exchange.ts";
import { BadKeyExchangeMessage, formatKeyExchangeMessage } from "../src/multisig/key-exchange-message.ts";
import { proposeTransaction } from "../src/multisig/propose.ts";
import { sealMultisigSet, unsealMultisigSet } from "../src/multisig/tx-set.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import type { PendingTransaction } from "../src/transfer/metadata.ts";
import type { Wallet } from "../src/wallet.ts";
import { accounts, outputs, walletOf, whole } from "./multisig-fixture.ts";
import { destinationOf, receiverOf, ringAround, seededRandom } from "./transfer-fixture.ts";

const random = seededRandom("hostile cosigner");
const stranger = createKeys(random);
const bob = createKeys(random);

const noncesOf = ({ oneTimeKey }: OwnedOutput, nonces: readonly Uint8Array[]) =>
  nonces.map((nonce) => ({ L: publicKeyOf(nonce), R: keyImageOf(oneTimeKey, nonce) }));

/** A proposal of the first signer, and the second one's wallet that sent him nonces. */
async function proposed(change = receiverOf(whole), destinations = [destinationOf(bob, 600n)]) {
  const [first, second] = accounts;
  const [proposer, cosigner] = [walletOf(first), walletOf(second)];
  for (const output of outputs) {
    const key = toHex(output.oneTimeKey);
    const nonces = Array.from({ length: 4 }, () => randomScalar());
    cosigner.state.multisigNonces.set(key, nonces);
    const info = { signer: signerKeyOf(second), nonces: noncesOf(output, nonces), partialKeyImages: [] };
    proposer.state.multisigInfos.set(key, [info]);
  }
  const rings = outputs.map((output) => ringAround(output, random));
  const ringed = {
    inputs: outputs,
    rings,
    destinations,
    change: destinations.reduce((left, { amount }) => left - amount, 900n),
    fee: 100n,
    unlockTime: 0n,
  };
  const { pending } = await proposeTransaction(ringed, { account: first, wallet: proposer, change });
  // As it is handed on: the payment id is readable in it.
  const handedOn = await sealMultisigSet(
    { transactions: [pending], signers: [signerKeyOf(first)] },
    proposer,
  );
  const set = (await unsealMultisigSet(handedOn, cosigner))!;
  return { set, pending: set.transactions[0]!, cosigner };
}

const noncesLeft = ({ state }: Wallet) => [...state.multisigNonces.values()].flat().length;

type Data = PendingTransaction["constructionData"];
const withData = (pending: PendingTransaction, data: Partial<Data>): PendingTransaction => ({
  ...pending,
  constructionData: { ...pending.constructionData, ...data },
});
const bit = (bytes: Uint8Array) => bytes.map((byte, i) => (i === 0 ? byte ^ 1 : byte));
type Source = Data["sources"][number];
const withSource = (pending: PendingTransaction, change: (source: Source) => Partial<Source>) =>
  withData(pending, {
    sources: pending.constructionData.sources.map((source, i) =>
      i === 0 ? { ...source, ...change(source) } : source,
    ),
  });
const withOutputs = (pending: PendingTransaction, change: (entry: Data["change"], at: number) => object) =>
  withData(pending, {
    splitDestinations: pending.constructionData.splitDestinations.map((entry, at) => ({
      ...entry,
      ...change(entry, at),
    })),
  });

type Ringct = Exclude<PendingTransaction["transaction"]["ringct"], undefined | { readonly type: 0 }>;
const withRingct = (pending: PendingTransaction, change: (ringct: Ringct) => object): PendingTransaction => {
  const ringct = pending.transaction.ringct as Ringct;
  const changed = { ...ringct, ...change(ringct) } as Ringct;
  return { ...pending, transaction: { ...pending.transaction, ringct: changed } };
};
const withPrefix = (
  pending: PendingTransaction,
  change: (prefix: PendingTransaction["transaction"]["prefix"]) => object,
): PendingTransaction => {
  const { transaction } = pending;
  const prefix = { ...transaction.prefix, ...change(transaction.prefix) };
  return { ...pending, transaction: { ...transaction, prefix } };
};

/** Lies about a transaction, by name. */
const lies: { readonly [name: string]: (pending: PendingTransaction) => PendingTransaction } = {
  "pays somebody else than it says": (pending) =>
    withOutputs(pending, ({ amount }) => (amount === 600n ? { spendPublic: stranger.spendPublic } : {})),
  "says it pays less": (pending) =>
    withOutputs(pending, ({ amount }) => ({ amount: amount === 600n ? 500n : amount + 100n })),
  "says the fee is another": (pending) => ({ ...pending, fee: 1n }),
  "takes a greater fee": (pending) => withRingct(pending, () => ({ fee: 300n })),
  "an input is said to be worth more": (pending) => withSource(pending, () => ({ amount: 501n })),
  "an input has another mask": (pending) => withSource(pending, ({ mask }) => ({ mask: bit(mask) })),
  "the real output is another member": (pending) =>
    withSource(pending, ({ realOutput }) => ({ realOutput: (realOutput + 1n) % 16n })),
  "the real output is none": (pending) => withSource(pending, () => ({ realOutput: 2n ** 64n - 1n })),
  "a ring has other members": (pending) =>
    withSource(pending, ({ outputs: members }) => ({
      outputs: members.map((each, i) => (i === 15 ? { ...each, globalIndex: each.globalIndex + 1n } : each)),
    })),
  "the same output twice": (pending) => {
    const [source] = pending.constructionData.sources;
    const twice = withData(pending, { sources: [source!, source!] });
    return withPrefix(twice, ({ inputs }) => ({ inputs: [inputs[0], inputs[0]] }));
  },
  "another unlock time": (pending) => withData(pending, { unlockTime: 2n ** 64n - 1n }),
  "locked in truth": (pending) => withPrefix(pending, () => ({ unlockTime: 2n ** 64n - 1n })),
  "another key image": (pending) =>
    withPrefix(pending, ({ inputs }) => ({
      inputs: inputs.map((input, i) => (i === 0 ? { ...input, keyImage: bob.spendPublic } : input)),
    })),
  "an input of a visible amount": (pending) =>
    withPrefix(pending, ({ inputs }) => ({
      inputs: inputs.map((input, i) => (i === 0 ? { ...input, amount: 1n } : input)),
    })),
  "an output to somebody else": (pending) =>
    withPrefix(pending, ({ outputs: made }) => ({
      outputs: made.map((each, i) =>
        i === 0 ? { ...each, target: { ...each.target, key: bob.spendPublic } } : each,
      ),
    })),
  "another view tag": (pending) =>
    withPrefix(pending, ({ outputs: made }) => ({
      outputs: made.map((each) => {
        const target = each.target as { viewTag: number };
        return { ...each, target: { ...target, viewTag: target.viewTag ^ 1 } };
      }),
    })),
  "more in extra": (pending) =>
    withPrefix(pending, ({ extra }) => ({ extra: Uint8Array.of(...extra, 0, 0) })),
  "an amount its receiver can't read": (pending) =>
    withRingct(pending, ({ ecdhInfo }) => ({
      ecdhInfo: ecdhInfo.map((info) => ({ ...info, amount: bit(info.amount as Uint8Array) })),
    })),
  "another commitment": (pending) =>
    withRingct(pending, ({ outputCommitments }) => ({
      outputCommitments: [bob.spendPublic, ...outputCommitments.slice(1)],
    })),
  "no range proof": (pending) =>
    withRingct(pending, ({ prunable }) => ({ prunable: { ...prunable!, bulletproofsPlus: [] } })),
  "no ring proofs": (pending) =>
    withRingct(pending, ({ prunable }) => ({ prunable: { ...prunable!, clsags: [] } })),
  "other secret keys": (pending) => ({ ...pending, txKey: bit(pending.txKey) }),
  "other entropy": (pending) => ({ ...pending, multisigEntropy: bit(pending.multisigEntropy) }),
  "no attempts": (pending) => ({ ...pending, multisigSignatures: [] }),
  "an attempt twice, with the same nonces": (pending) => ({
    ...pending,
    multisigSignatures: [...pending.multisigSignatures, ...pending.multisigSignatures],
  }),
  "nonces nobody told": (pending) => ({
    ...pending,
    multisigSignatures: pending.multisigSignatures.map((each) => ({
      ...each,
      usedNonces: each.usedNonces.map(() => bob.spendPublic),
    })),
  }),
};

test("an honest proposal is signed once, and its nonces are gone before", async () => {
  const { set, cosigner } = await proposed();
  const signed = await cosign(cosigner, accounts[1], set);
  assert.equal(signed.txHashes.length, 1);
  assert.equal(noncesLeft(cosigner), 0);
  await assert.rejects(cosign(cosigner, accounts[1], set), SigningRefused);
});

test("a proposal that leaves no change names the output of nothing beside the payment as its change, and is signed", async () => {
  const { set, pending, cosigner } = await proposed(receiverOf(whole), [destinationOf(bob, 900n)]);
  const { change, splitDestinations } = pending.constructionData;
  assert.deepEqual(pending.change, change);
  assert.notDeepEqual(change.spendPublic, whole.spendPublic);
  const [nothing, payment] = [...splitDestinations].sort((a, b) => Number(a.amount - b.amount));
  assert.deepEqual(nothing, change);
  assert.equal(payment!.amount, 900n);
  assert.equal((await cosign(cosigner, accounts[1], set)).txHashes.length, 1);
});

test("a proposal describes its sources and its outputs in the order of the transaction", async () => {
  const paid = [400n, 200n].map((amount) => ({ ...destinationOf(bob, amount), address: `for ${amount}` }));
  const { set, pending, cosigner } = await proposed(receiverOf(whole), paid);
  const { constructionData: data, transaction, selectedTransfers } = pending;
  const sourceOf = (keyImage: Uint8Array) => Uint8Array.of(...new Uint8Array(96), ...keyImage);
  assert.deepEqual(
    data.sources.map(({ multisig }) => multisig),
    transaction.prefix.inputs.map((input) => input.type === "key" && sourceOf(input.keyImage)),
  );
  const keys = data.sources.map(({ outputs: members, realOutput }) => members[Number(realOutput)]!.key);
  assert.deepEqual(
    keys,
    selectedTransfers.map((place) => outputs[Number(place)]!.oneTimeKey),
  );
  const described = data.splitDestinations.map(({ amount, original }) => [
    amount,
    String(Buffer.from(original)),
  ]);
  assert.deepEqual(described.sort(), [
    [200n, "for 200"],
    [300n, ""],
    [400n, "for 400"],
  ]);
  assert.equal((await cosign(cosigner, accounts[1], set)).txHashes.length, 1);
});

test("a proposal that spends a frozen output is not signed, and costs no nonces", async () => {
  const { set, cosigner } = await proposed();
  const told = noncesLeft(cosigner);
  cosigner.state.outputs.freeze(1, true);
  await assert.rejects(cosign(cosigner, accounts[1], set), /containing frozen outputs/).finally(() => {
    cosigner.state.outputs.freeze(1, false);
  });
  assert.equal(noncesLeft(cosigner), told);
  assert.equal((await cosign(cosigner, accounts[1], set)).txHashes.length, 1);
});

test("a proposal of an absurd fee is not signed, and costs no nonces", async () => {
  const { set, pending, cosigner } = await proposed();
  const told = noncesLeft(cosigner);
  const rich = withSource(pending, () => ({ amount: 10n ** 14n }));
  const refused = cosign(cosigner, accounts[1], { ...set, transactions: [rich] });
  await assert.rejects(refused, /its fee is absurd/);
  assert.equal(noncesLeft(cosigner), told);
});

test("nonces are wiped once used, though the signature is refused, and kept where nothing is signed", async () => {
  const { set, pending, cosigner } = await proposed();
  const nonces = [...cosigner.state.multisigNonces.values()].flat();
  const isWiped = (nonce: Uint8Array) => nonce.every((byte) => byte === 0);
  const untrue = { ...set, transactions: [{ ...pending, fee: pending.fee + 1n }] };
  await assert.rejects(cosign(cosigner, accounts[1], untrue), /fee is not the difference/);
  assert.ok(!nonces.some(isWiped));
  const multisigSignatures = pending.multisigSignatures.map((each) => ({ ...each, s: each.s.map(bit) }));
  const wrong = { ...set, transactions: [{ ...pending, multisigSignatures }] };
  await assert.rejects(cosign(cosigner, accounts[1], wrong), /signer's part is wrong/);
  assert.ok(nonces.length > 0 && nonces.every(isWiped));
});

test("the outputs that a proposal spends are found without a walk over all outputs", async () => {
  const { set, pending, cosigner } = await proposed();
  const walk = () => assert.fail("a walk over all outputs");
  Object.assign(cosigner.state.outputs, { [Symbol.iterator]: walk, slice: walk });
  const costly = { ...set, transactions: [{ ...pending, fee: pending.fee + 1n }] };
  await assert.rejects(cosign(cosigner, accounts[1], costly), /fee is not the difference/);
});

test("no lie about a transaction is signed, or costs the nonces told", async () => {
  const { set, pending, cosigner } = await proposed();
  const told = noncesLeft(cosigner);
  for (const [name, lie] of Object.entries(lies)) {
    const changed = { ...set, transactions: [lie(pending)] };
    await assert.rejects(cosign(cosigner, accounts[1], changed), SigningRefused, name);
    assert.equal(noncesLeft(cosigner), told, name);
  }
  await cosign(cosigner, accounts[1], set);
});

test("change that goes to a stranger is not signed, however consistent", async () => {
  const { spendPublic } = stranger;
  for (const viewPublic of [stranger.viewPublic, whole.viewPublic]) {
    const { set, cosigner } = await proposed({ spendPublic, viewPublic, isSubaddress: false });
    const told = noncesLeft(cosigner);
    await assert.rejects(cosign(cosigner, accounts[1], set), /change goes to an address/);
    assert.equal(noncesLeft(cosigner), told);
  }
});

test("signers who are none, or are named twice, count for nothing", async () => {
  const { set, cosigner } = await proposed();
  const told = noncesLeft(cosigner);
  const [first, second] = accounts.map(signerKeyOf) as [Uint8Array, Uint8Array];
  for (const signers of [
    [first, first],
    [bob.spendPublic],
    [first, bob.spendPublic],
    [second],
    [first, second],
  ])
    await assert.rejects(cosign(cosigner, accounts[1], { ...set, signers }), SigningRefused);
  assert.equal(noncesLeft(cosigner), told);
});

test("a signer's string of more keys than its round has costs no more than reading it", () => {
  const secrets = [1, 2, 3].map((signer) => ({
    spendSecret: hashToScalar(Uint8Array.of(signer, 1)),
    viewSecret: hashToScalar(Uint8Array.of(signer, 2)),
  }));
  const texts = secrets.map(firstMessage);
  const account = startKeyExchange(secrets[0]!, texts.slice(1), 2);
  const { spendSecret } = createKeys(random);
  const keys = Array.from({ length: 6000 }, () => bob.spendPublic);
  const many = formatKeyExchangeMessage({ round: 2, keys, commonSecret: undefined }, spendSecret);
  assert.throws(() => continueKeyExchange(account, [many, many]), /more than 2 keys/);
  const late = formatKeyExchangeMessage({ round: 3, keys, commonSecret: undefined }, spendSecret);
  assert.throws(() => continueKeyExchange(account, [late, late]), KeyExchangeRefused);
  const endless = `MultisigxV2Rn${"1".repeat(400_000)}`;
  assert.throws(() => continueKeyExchange(account, [endless]), BadKeyExchangeMessage);
  assert.throws(() => startKeyExchange(secrets[0]!, Array(17).fill(texts[1]), 2), KeyExchangeRefused);
});
