import assert from "node:assert/strict";
import { test } from "node:test";
import { keccak256, signMessageHash } from "@anulo/crypto";
import {
  decodeMnemonic,
  encodeBase58,
  fromHex,
  parseAddress,
  parseExtra,
  toHex,
  transactionHash,
  txPublicKey,
} from "@anulo/protocol";
import { keysOfSeed } from "../src/keys/wallet-keys.ts";
import { type MessageSigning, signMessage, verifyMessage } from "../src/proofs/message.ts";
import { checkPaymentProof, checkTxKeys, proveReceived, proveSent } from "../src/proofs/payment-proof.ts";
import { chooseReserve } from "../src/proofs/reserve-outputs.ts";
import { parseReserveProof } from "../src/proofs/reserve-proof.ts";
import { bytesOfText } from "../src/proofs/text.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { signerOf } from "../src/signer/signer.ts";
import type { WalletKeys } from "../src/state.ts";
import { recorded, recordedChain, recordedSteps } from "./recorded-node.ts";

const steps = recordedSteps("wallet_read");

type Fields = Readonly<Record<string, string>>;
function paramsOf(id: string): Fields {
  return steps.find((step) => step.id === id)!.request.body!.params as Fields;
}

const keysOf = (name: string) => keysOfSeed(decodeMnemonic(recorded.wallets[name]!.mnemonic).key);
const signText = (keys: WalletKeys, data: Uint8Array, signing: MessageSigning) =>
  signMessage(signerOf(keys, false), data, signing);

/** Every text that differs from `text` in one letter of its base 58 part. */
function mutationsOf(text: string, from: number, step = 1): string[] {
  const mutations: string[] = [];
  for (let at = from; at < text.length; at += step)
    mutations.push(text.slice(0, at) + (text[at] === "2" ? "3" : "2") + text.slice(at + 1));
  return mutations;
}

test("signatures the original made are verified, by the right key", () => {
  for (const [id, key] of [
    ["verify", "spend"],
    ["verify:subaddress", "spend"],
    ["verify:view key", "view"],
  ] as const) {
    const { data, address, signature } = paramsOf(id);
    const verdict = verifyMessage(parseAddress(address!), bytesOfText(data!), signature!);
    assert.deepEqual(verdict, { good: true, version: 2, key });
  }
});

test("signed texts of every address and key are verified; no other text, address or letter is", () => {
  const keys = keysOf("a");
  const other = parseAddress(recorded.wallets.b!.address);
  const data = bytesOfText("some data");
  for (const key of ["spend", "view"] as const) {
    const index = { major: 0, minor: 0 };
    const signature = signText(keys, data, { key, index });
    assert.deepEqual(verifyMessage(keys, data, signature), { good: true, version: 2, key });
    assert.equal(verifyMessage(keys, bytesOfText("some Data"), signature).good, false);
    assert.equal(verifyMessage(other, data, signature).good, false);
    for (const changed of mutationsOf(signature, 0, 3))
      assert.equal(verifyMessage(keys, data, changed).good, false, changed);
    assert.notEqual(signText(keys, data, { key, index: { major: 1, minor: 2 } }), signature);
  }
});

test("a signature of the first version, over the bare hash, is still verified", () => {
  const keys = keysOf("a");
  const hash = keccak256(bytesOfText("x"));
  const signature = `SigV1${encodeBase58(signMessageHash(hash, keys.spendPublic, keys.spendSecret))}`;
  const verdict = verifyMessage(keys, bytesOfText("x"), signature);
  assert.deepEqual(verdict, { good: true, version: 1, key: "spend" });
});

test("a view-only wallet signs with the view key of its primary address and nothing else", () => {
  const keys = { ...keysOf("a"), spendSecret: undefined };
  const primary = { major: 0, minor: 0 };
  const signature = signText(keys, bytesOfText(""), { key: "view", index: primary });
  assert.equal(verifyMessage(keys, bytesOfText(""), signature).good, true);
  const refused = (key: "spend" | "view", minor: number) =>
    assert.throws(() => signText(keys, bytesOfText(""), { key, index: { major: 0, minor } }), WalletRefusal);
  refused("spend", 0);
  refused("view", 1);
});

test("text that isn't UTF-8 is signed byte for byte", () => {
  assert.deepEqual(bytesOfText("\udcff\u00e9"), Uint8Array.of(0xff, 0xc3, 0xa9));
});

function claimOf({ txid, address, message }: Fields) {
  const transaction = recordedChain
    .flatMap(({ transactions }) => transactions)
    .find((tx) => toHex(transactionHash(tx)) === txid)!;
  return {
    txHash: fromHex(txid!),
    transaction,
    address: parseAddress(address!),
    message: bytesOfText(message ?? ""),
  };
}

test("a proof of payment the original made shows the amount; none of its mutations does", async () => {
  const { signature, ...claimed } = paramsOf("check_tx_proof:receiver");
  const claim = claimOf(claimed);
  assert.equal(await checkPaymentProof(claim, signature!), 1200446678074n);
  const header = "InProofV2".length;
  for (const changed of mutationsOf(signature!, header, 2)) {
    try {
      assert.equal(await checkPaymentProof(claim, changed), undefined, changed);
    } catch (error) {
      assert.ok(error instanceof WalletRefusal);
    }
  }
  const words = { ...claim, message: bytesOfText("other") };
  assert.equal(await checkPaymentProof(words, signature!), undefined);
  for (const other of ["OutProofV2", "InProofV1"])
    assert.equal(await checkPaymentProof(claim, other + signature!.slice(header)), undefined);
  for (const bad of ["", "nonsense", `XnProofV2${signature!.slice(header)}`, `${signature}1`])
    await assert.rejects(checkPaymentProof(claim, bad), WalletRefusal);
});

test("the receiver proves its payments, to subaddresses and among several, and nothing else", async () => {
  const amounts = [];
  for (const name of ["plain", "multi", "to_sub"]) {
    const claim = claimOf(paramsOf(`check_tx_key:${name}`));
    for (const receiver of ["b", "a"]) {
      const proof = await proveReceived(claim, keysOf(receiver).viewSecret).catch(ofRefusal);
      if (proof !== undefined) amounts.push([name, await checkPaymentProof(claim, proof)]);
    }
  }
  assert.deepEqual(amounts, [
    ["plain", 1200446678074n],
    ["multi", 200632004865n],
    ["to_sub", 500362964926n],
  ]);
});

function ofRefusal(error: unknown): undefined {
  if (!(error instanceof WalletRefusal)) throw error;
}

test("a proof of a transaction with thousands of keys is made and checked with pauses", async () => {
  const claim = claimOf(paramsOf("check_tx_key:plain"));
  const { outputs, extra } = claim.transaction.prefix;
  const main = txPublicKey(parseExtra(extra))!;
  const keys = Array.from({ length: 2000 }, () => main);
  const many = Buffer.concat([Buffer.of(1, ...main), Buffer.of(4, 0xd0, 0x0f), ...keys]);
  const prefix = {
    ...claim.transaction.prefix,
    extra: many,
    outputs: Array.from({ length: 2000 }, () => outputs[0]!),
  };
  const transaction = { ...claim.transaction, prefix };
  const part = paramsOf("check_tx_proof:receiver").signature!.slice("InProofV2".length);
  const secrets = keys.map((_, i) => Uint8Array.of(i % 251, i >> 8, 1, ...new Uint8Array(29)));
  for (const work of [
    () => checkPaymentProof({ ...claim, transaction }, `InProofV2${part.repeat(2001)}`),
    () => proveReceived({ ...claim, transaction }, keysOf("b").viewSecret),
    () => proveSent({ ...claim, transaction }, [...secrets, secrets[0]!]),
    () => checkTxKeys(transaction, claim.address, [...secrets, secrets[0]!]),
  ]) {
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await work().catch(ofRefusal);
    isOver = true;
    assert.ok(turns > 3, `${turns}`);
  }
});

test("transaction keys show what an address received; another address received nothing", async () => {
  for (const [id, amount] of [
    ["plain", 1200446678074n],
    ["multi", 200632004865n],
    ["to_sub", 500362964926n],
    ["other address", 0n],
  ] as const) {
    const params = paramsOf(`check_tx_key:${id}`);
    const { transaction, address } = claimOf(params);
    const keys = params.tx_key!.match(/.{64}/g)!.map((key) => fromHex(key));
    assert.equal(await checkTxKeys(transaction, address, keys), amount);
  }
});

async function chosenOf(amounts: readonly bigint[], wanted: bigint): Promise<number[]> {
  const places = Uint32Array.from(amounts.keys());
  return [...(await chooseReserve(places, (place) => amounts[place]!, wanted))];
}

test("a reserve is the fewest of the greatest outputs, none greater than needed", async () => {
  const outputs = [5n, 1n, 9n, 3n, 7n];
  const amounts = async (wanted: bigint) => (await chosenOf(outputs, wanted)).map((place) => outputs[place]);
  assert.deepEqual(await amounts(4n), [5n]);
  assert.deepEqual(await amounts(9n), [9n]);
  assert.deepEqual(await amounts(10n), [9n, 7n]);
  assert.deepEqual(await amounts(16n), [9n, 7n]);
  assert.deepEqual(await amounts(21n), [9n, 7n, 5n]);
  assert.deepEqual(await amounts(25n), [9n, 7n, 5n, 3n, 1n]);
  assert.deepEqual(await amounts(26n), [9n, 7n, 5n, 3n, 1n], "all, where even these are not enough");
});

test("of outputs of one amount a reserve takes those found first, alone the one found last", async () => {
  assert.deepEqual(await chosenOf([4n, 6n, 4n, 6n, 6n], 13n), [1, 3, 4]);
  assert.deepEqual(await chosenOf([4n, 6n, 4n, 6n, 6n], 15n), [1, 3, 4]);
  assert.deepEqual(await chosenOf([4n, 6n, 4n, 6n, 6n], 21n), [1, 3, 4, 0]);
  assert.deepEqual(await chosenOf([4n, 6n, 4n, 9n, 6n], 5n), [4]);
});

test("a reserve of many outputs is the beginning of all, sorted", async () => {
  const amounts = Array.from({ length: 3000 }, (_, i) => BigInt((i * 7919) % 1009));
  const sorted = [...amounts.keys()].sort((a, b) => Number(amounts[b]! - amounts[a]!) || a - b);
  let wanted = 0n;
  for (const [i, place] of sorted.entries()) {
    wanted += amounts[place]!;
    if (i > 1 && i % 500 === 0) assert.deepEqual(await chosenOf(amounts, wanted), sorted.slice(0, i + 1));
  }
});

test("what is no reserve proof of the wallet is refused", async () => {
  const { signature, address } = paramsOf("check_reserve_proof:all");
  const own = parseAddress(address!);
  assert.equal((await parseReserveProof(signature!, own)).headerVersion, 2);
  const other = parseAddress(recorded.wallets.a!.address);
  for (const [text, reader] of [
    [signature!, other],
    [`${signature}11`, own],
    [signature!.slice(0, -11), own],
    ["ReserveProofV2", own],
    ["ReserveProofV2!", own],
    ["nonsense", own],
  ] as const)
    await assert.rejects(parseReserveProof(text, reader), WalletRefusal);
  await assert.rejects(parseReserveProof("ReserveProofV2", own), /Failed to parse/);
});
