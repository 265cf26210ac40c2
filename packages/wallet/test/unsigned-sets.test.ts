import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { IDENTITY } from "@anulo/crypto";
import {
  decode,
  decodeInSteps,
  encode,
  fromHex,
  paymentIdNonce,
  readTransaction,
  toHex,
  transactionHash,
  writeExtra,
} from "@anulo/protocol";
import { wallet as declared } from "@anulo/rpc";
import { signSet } from "../src/actions/sign-set.ts";
import { readConstruction } from "../src/cold-signing/construction.ts";
import { describeSet } from "../src/cold-signing/describe-set.ts";
import { forSigner, previewOf } from "../src/cold-signing/prepare-unsigned.ts";
import { type Kind, sealSet, signedKind, unsignedKind } from "../src/cold-signing/tx-sets.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { multisigKind } from "../src/multisig/tx-set.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { coldSigningHandlers } from "../src/rpc/cold-signing.ts";
import { createRuntime } from "../src/runtime.ts";
import { signerOf } from "../src/signer/signer.ts";
import { chainOfSigner } from "../src/transfer/fee-limits.ts";
import { type ConstructionData, pendingOf } from "../src/transfer/metadata.ts";
import { sign } from "../src/transfer/sign.ts";
import type { RingedTransaction } from "../src/transfer/stages.ts";
import { weightOf } from "../src/transfer/weigh.ts";
import type { Wallet } from "../src/wallet.ts";
import { destinationOf, receive, receiverOf, ringAround, seededRandom } from "./transfer-fixture.ts";

const random = seededRandom("unsigned sets");
const alice = createKeys(random);
const viewOnly = { ...alice, spendSecret: undefined };
const bob = createKeys(random);
const change = receiverOf(alice);
const paymentId = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);

const inputs = [
  receive(alice, { amount: 700n, globalIndex: 1000 }, random),
  receive(alice, { amount: 900n, globalIndex: 3003, subaddress: { major: 0, minor: 3 } }, random),
];

const finder = {
  keys: alice,
  indexOfSpendKey: (key: Uint8Array) =>
    [0, 3]
      .map((minor) => ({ major: 0, minor }))
      .find((index) => {
        return Buffer.compare(receiverOf(alice, index).spendPublic, key) === 0;
      }),
};

/** As a wallet knows it that has never seen a node. */
const unknownChain = { lastBlockReward: 0n, height: 1 };

function ringedTo(changeAmount: bigint): RingedTransaction {
  const destination = destinationOf(bob, 1500n - changeAmount, undefined, paymentId);
  const rings = inputs.map((input) => ringAround(input, random));
  return { inputs, rings, destinations: [destination], change: changeAmount, fee: 100n, unlockTime: 0n };
}

/** What a view-only wallet gives to be signed. */
function handedOut(ringed: RingedTransaction): ConstructionData {
  const preview = previewOf(ringed, viewOnly, random);
  const signed = sign(preview.ringed, { keys: preview.keys, change, random });
  const { inputs: spent, rings } = ringed;
  const indexOf = (output: (typeof inputs)[number]) => inputs.indexOf(output);
  return forSigner(pendingOf({ ...signed, inputs: spent, rings }, { change, indexOf }));
}

test("a preview weighs what the signed transaction will, and shows no key image", () => {
  const ringed = ringedTo(200n);
  const preview = previewOf(ringed, viewOnly, random);
  const signed = sign(preview.ringed, { keys: preview.keys, change, random });
  assert.equal(signed.weight, weightOf(ringed, change));
  for (const input of signed.transaction.prefix.inputs)
    assert.ok(input.type === "key" && Buffer.compare(input.keyImage, IDENTITY) === 0);
});

for (const changeAmount of [200n, 0n]) {
  test(`the signer reads what was asked for, with change of ${changeAmount}`, async () => {
    const ringed = ringedTo(changeAmount);
    const data = handedOut(ringed);
    const { ringed: read } = await readConstruction(data, finder, unknownChain);
    assert.deepEqual(
      read.destinations.map(({ amount, paymentId: id }) => [amount, id]),
      [[1500n - changeAmount, paymentId]],
    );
    assert.deepEqual([read.change, read.fee, read.unlockTime], [changeAmount, 100n, 0n]);
    assert.deepEqual(read.rings, ringed.rings);
    assert.deepEqual(
      read.inputs.map(({ keyImage, subaddress, mask }) => ({ keyImage, subaddress, mask })),
      inputs.map(({ keyImage, subaddress, mask }) => ({ keyImage, subaddress, mask })),
    );
    const { desc } = describeSet([{ data }], "regtest");
    assert.equal(desc[0]!.payment_id, "0102030405060708");
    assert.deepEqual([desc[0]!.fee, desc[0]!.change_amount, desc[0]!.ring_size], [100n, changeAmount, 16]);
    assert.deepEqual(
      desc[0]!.sources,
      inputs.map((input, at) => {
        const { members, realIndex } = ringed.rings[at]!;
        const { key, commitment } = members[realIndex]!;
        const pubkey = toHex(key) + toHex(commitment);
        return { amount: input.amount, global_index: input.globalIndex, rct: true, pubkey };
      }),
    );
    assert.equal(desc[0]!.weight, undefined, "nothing is there to be weighed");
    assert.equal(desc[0]!.dummy_outputs, changeAmount === 0n ? 1 : 0);
    assert.deepEqual(
      desc[0]!.recipients.map(({ amount }) => amount),
      [1500n - changeAmount],
    );
    assert.equal(desc[0]!.recipients[0]!.address.length, 106);
  });
}

test("a set of inputs without number is described, or refused, not choked on", () => {
  const data = handedOut(ringedTo(200n));
  const sources = Array.from({ length: 300_000 }, () => data.sources[0]!);
  assert.equal(describeSet([{ data: { ...data, sources } }], "regtest").desc[0]!.ring_size, 16);
});

test("a set is read back as it was written, with a pause after each item", () => {
  const steps: string[] = [];
  const read = <T>({ codec, steps: stepsOf }: Kind<T>, set: T) => {
    const encoded = encode(codec, set);
    assert.deepEqual(decode(codec, encoded), set);
    const reading = decodeInSteps(stepsOf, encoded);
    let count = 0;
    let step = reading.next();
    for (; step.done !== true; step = reading.next()) count++;
    assert.deepEqual(step.value, set);
    steps.push(`${count}`);
  };
  const transactions = [handedOut(ringedTo(200n)), handedOut(ringedTo(0n))];
  const exported = {
    ...{ version: 1, oneTimeKey: alice.spendPublic, outputIndex: 0, globalIndex: 5n, flags: 0, amount: 5n },
    ...{ txPublicKey: bob.spendPublic, additionalTxPublicKeys: [], account: 0, address: 0 },
  };
  read(unsignedKind, { version: 2, transactions, newOutputs: { offset: 7, total: 9, outputs: [exported] } });
  const keyImages = [alice.spendPublic, bob.spendPublic, alice.viewPublic];
  const ownOutputs = [{ pairSize: 2, oneTimeKey: alice.spendPublic, keyImage: bob.spendPublic }];
  read(signedKind, { version: 0, transactions: [], keyImages, ownOutputs });
  read(multisigKind, { transactions: [], signers: keyImages });
  assert.deepEqual(steps, ["3", "4", "3"]);
});

test("the signer refuses whatever isn't true, or isn't good for it", async () => {
  const data = handedOut(ringedTo(200n));
  const [first, second] = data.sources;
  const withSource = (changed: Partial<NonNullable<typeof first>>) => {
    return { ...data, sources: [{ ...first!, ...changed }, second!] };
  };
  const stranger = receiverOf(bob);
  const toStranger = { ...data.change, ...stranger, isSubaddress: 0 };
  const isChange = ({ amount }: { amount: bigint }) => amount === data.change.amount;
  const noPoint = new Uint8Array(32).fill(0xff);
  const bad: Record<string, ConstructionData> = {
    "no inputs": { ...data, sources: [] },
    "an amount that isn't the output's": withSource({ amount: 701n }),
    "a mask that isn't the output's": withSource({ mask: second!.mask }),
    "a real output outside its ring": withSource({ realOutput: 16n }),
    "somebody else's output": withSource({ realOutput: (first!.realOutput + 1n) % 16n }),
    "another transaction key": withSource({ txPublicKey: bob.viewPublic }),
    "an output index beyond reason": withSource({ outputIndex: 1n << 40n }),
    "a ring of 15": withSource({ outputs: first!.outputs.slice(1) }),
    "a ring out of order": withSource({
      outputs: [...first!.outputs].reverse(),
      realOutput: 15n - first!.realOutput,
    }),
    "an output before RingCT": withSource({ rct: 0 }),
    "outputs without view tags": { ...data, flags: 1 },
    "old range proofs": { ...data, bulletproofVersion: 2 },
    "more paid than spent": {
      ...data,
      splitDestinations: data.splitDestinations.map((to) => ({ ...to, amount: to.amount + 100n })),
    },
    "change that isn't among the outputs": { ...data, change: { ...data.change, amount: 201n } },
    "change that goes to a stranger": {
      ...data,
      change: toStranger,
      splitDestinations: data.splitDestinations.map((to) => (isChange(to) ? toStranger : to)),
    },
    "an output spent twice": { ...data, sources: [second!, second!] },
    "257 inputs": { ...data, sources: Array.from({ length: 257 }, () => first!) },
    "17 outputs": {
      ...data,
      splitDestinations: Array.from({ length: 17 }, () => ({ ...data.splitDestinations[0]!, amount: 1n })),
    },
    "a destination that is no point": {
      ...data,
      splitDestinations: data.splitDestinations.map((to) =>
        isChange(to) ? to : { ...to, spendPublic: noPoint },
      ),
    },
  };
  for (const [what, changed] of Object.entries(bad))
    await assert.rejects(readConstruction(changed, finder, unknownChain), WalletRefusal, what);
  await readConstruction(data, finder, unknownChain);
});

test("the signer refuses a fee beyond all that was ever asked for, less where it knows the reward", async () => {
  const data = handedOut(ringedTo(200n));
  const [first, second] = data.sources;
  const leaving = (fee: bigint) => ({
    ...data,
    sources: [{ ...first!, amount: 700n + fee - 100n }, second!],
  });
  const known = { lastBlockReward: 600_000_000_000n, height: 3_000_000 };
  const isAbsurd = async (fee: bigint, seen = unknownChain) => {
    try {
      await readConstruction(leaving(fee), finder, seen);
    } catch (error) {
      return /fee is absurd/.test((error as Error).message);
    }
    return false;
  };
  const coin = 10n ** 12n;
  assert.deepEqual(await Promise.all([coin, 100n * coin].map((fee) => isAbsurd(fee))), [false, true]);
  assert.deepEqual(await Promise.all([coin / 100n, coin].map((fee) => isAbsurd(fee, known))), [false, true]);
});

test("no length of extra makes an absurd fee acceptable", async () => {
  const data = handedOut(ringedTo(200n));
  const [first, second] = data.sources;
  const absurd = { ...data, sources: [{ ...first!, amount: 700n + 100n * 10n ** 12n }, second!] };
  const extra = new Uint8Array(1_000_000);
  await assert.rejects(readConstruction({ ...absurd, extra }, finder, unknownChain), /fee is absurd/);
});

test("a signer that has never seen a node takes the chain to be as long as it is at least", () => {
  const asSeen = (network: "mainnet" | "regtest", height: number) =>
    chainOfSigner({ state: { lastBlockReward: 0n, height }, network, hasScanned: height > 1 }).height;
  assert.deepEqual(
    [asSeen("mainnet", 1), asSeen("mainnet", 500), asSeen("regtest", 1), asSeen("regtest", 500)],
    [2_689_608, 500, 1, 500],
  );
});

test("the signer spends no output that its owner has frozen", async () => {
  const part = {
    ...finder,
    signer: signerOf(alice, false),
    state: unknownChain,
    network: "regtest",
    hasScanned: true,
    whenReady: async () => undefined,
    outputOf: (keyImage: Uint8Array) => {
      const output = inputs.find((input) => toHex(input.keyImage!) === toHex(keyImage));
      return output && { ...output, frozen: output === inputs[1] };
    },
  };
  const newOutputs = { offset: 0, total: 0, outputs: [] };
  const set = { version: 2, transactions: [handedOut(ringedTo(200n))], newOutputs };
  await assert.rejects(signSet(part as unknown as Wallet, set), /it spends a frozen output/);
});

test("what has been signed is answered with as much as was asked for, its keys stored in any case", async () => {
  const keysOf = new Map<string, readonly Uint8Array[]>();
  const runtime = createRuntime({ concurrency: 0 });
  const wallet = {
    ...finder,
    ...{ signer: signerOf(alice, false), network: "regtest", runtime, hasScanned: true },
    state: { ...unknownChain, outputs: inputs },
    whenReady: async () => undefined,
    outputOf: () => undefined,
    exclusively: (task: () => Promise<unknown>) => task(),
    commit: async ({ txHash, txKeys }: { txHash: string; txKeys: readonly Uint8Array[] }) => {
      await setImmediate();
      keysOf.set(txHash, txKeys);
    },
  };
  const { handler } = coldSigningHandlers.find(({ call }) => call === declared.coldSigning.signTransfer)!;
  const newOutputs = { offset: 0, total: 0, outputs: [] };
  const set = { version: 2, transactions: [handedOut(ringedTo(200n))], newOutputs };
  const unsigned_txset = toHex(await sealSet(unsignedKind, set, wallet));
  const ask = async (params: object) =>
    (await handler!(params, { opened: { wallet } } as never)) as {
      readonly [name: string]: readonly string[];
    };
  for (const get_tx_keys of [false, true])
    for (const export_raw of [false, true]) {
      const answer = await ask({ unsigned_txset, get_tx_keys, export_raw });
      const [txHash] = answer["tx_hash_list"]!;
      const keys = keysOf.get(txHash!)!.map(toHex).join("");
      assert.deepEqual(answer["tx_key_list"], get_tx_keys ? [keys] : []);
      const sent = answer["tx_raw_list"]!.map((blob) => readTransaction(fromHex(blob)));
      assert.deepEqual(
        sent.map((each) => toHex(transactionHash(each))),
        export_raw ? [txHash] : [],
      );
    }
  await assert.rejects(ask({ unsigned_txset: "00" }), /cannot load unsigned_txset/);
});

test("a description refuses change that contradicts the outputs", () => {
  const data = handedOut(ringedTo(200n));
  const refused = (transactions: ConstructionData[]) =>
    assert.throws(
      () =>
        describeSet(
          transactions.map((each) => ({ data: each })),
          "regtest",
        ),
      WalletRefusal,
    );
  refused([{ ...data, change: { ...data.change, spendPublic: bob.viewPublic } }]);
  refused([{ ...data, change: { ...data.change, amount: 5000n } }]);
  refused([data, { ...data, change: { ...data.change, ...receiverOf(bob), isSubaddress: 0 } }]);
  const [first, second] = data.sources;
  refused([{ ...data, sources: [{ ...first!, realOutput: 16n }, second!] }]);
  refused([{ ...data, sources: [first!, { ...second!, realOutput: 2n ** 64n - 1n }] }]);
  const long = { ...data, extra: writeExtra([paymentIdNonce(new Uint8Array(32).fill(7))]) };
  assert.equal(describeSet([{ data: long }], "regtest").desc[0]!.payment_id, "07".repeat(32));
  assert.deepEqual(describeSet([], "regtest").desc, []);
});
