import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { cnSlowHash, generateKeyDerivation, scSub } from "@anulo/crypto";
import { decodeMnemonic, removeSeedOffset, toHex, writeTransaction } from "@anulo/protocol";
import { makeToken } from "../src/access/token.ts";
import { backgroundKeyOf, sealUnder } from "../src/file/keys-file.ts";
import { hashFileKey, hashPassword } from "../src/file/password-hash.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { createLedger, wipeSecrets } from "../src/ledger/ledger.ts";
import { keysOfWords } from "../src/rpc/files.ts";
import { createRuntime } from "../src/runtime.ts";
import { readKeys, siftKeys } from "../src/scan/sift.ts";
import { sign } from "../src/transfer/sign.ts";
import { recorded } from "./recorded-node.ts";
import { destinationOf, receive, receiverOf, ringAround, seededRandom } from "./transfer-fixture.ts";
import { watchBytes } from "./watched-bytes.ts";

const runtime = createRuntime({ concurrency: 0 });
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** That nothing is left of these secrets, but for the results, which belong to the caller. */
async function assertWiped(
  t: TestContext,
  secrets: readonly Uint8Array[],
  run: () => Promise<readonly Uint8Array[]>,
): Promise<void> {
  const hidden = secrets.map(toHex);
  const watched = watchBytes(t);
  for (const result of await run()) result.fill(0);
  watched.stop();
  assert.deepEqual(watched.remaining(hidden), {});
}

test("a password's hash of several rounds leaves none of those between", async (t) => {
  const first = cnSlowHash(bytesOf("a password"));
  const second = cnSlowHash(first);
  const third = cnSlowHash(second);
  await assertWiped(t, [first, second, third], async () => {
    return [await hashPassword(runtime.threads, "a password", 3)];
  });
});

test("the keys that follow from a password leave nothing of those before them", async (t) => {
  for (const password of ["a", "b", "c", "d", "e", "f"]) {
    const fileKey = cnSlowHash(bytesOf(password));
    const inner = cnSlowHash(Uint8Array.of(...fileKey, 0x6b));
    await assertWiped(t, [fileKey, inner], async () => {
      const own = await hashPassword(runtime.threads, password, 1);
      const results = [await hashFileKey(runtime.threads, own, 0x6b), own];
      return [...results, await backgroundKeyOf(password, { threads: runtime.threads })];
    });
  }
});

test("the text of a keys file, in which a background key is, is left nowhere", async (t) => {
  const hidden = bytesOf("a key of the background wallet");
  const { random, threads } = runtime;
  const keys = createKeys(random);
  const settings = new Map([["background_keys", "a key of the background wallet"]]);
  await assertWiped(t, [hidden], async () => [
    await sealUnder(new Uint8Array(32).fill(3), { keys, createdAt: 1n, settings }, { random, threads }),
  ]);
});

test("a seed that is read from words, with a passphrase or without, is left nowhere", async (t) => {
  const { mnemonic } = recorded.wallets.a!;
  const seed = decodeMnemonic(mnemonic).key;
  const changed = removeSeedOffset(seed, "a passphrase");
  await assertWiped(t, [seed, changed, scSub(seed, changed)], async () => {
    const keys = [keysOfWords(mnemonic, ""), keysOfWords(mnemonic, "a passphrase")];
    return keys.flatMap(({ spendSecret, viewSecret }) => [spendSecret, viewSecret]);
  });
});

test("a token's bytes are in its text alone", async (t) => {
  const random = seededRandom("token");
  const [id, secret] = [random(8), random(32)];
  const inText = Buffer.from(secret).toString("base64url");
  const again = [id, secret].map((bytes) => bytes.slice());
  await assertWiped(t, [secret], async () => {
    const { text } = makeToken(() => again.shift()!);
    assert.ok(text.endsWith(inText));
    secret.fill(0);
    return [];
  });
});

test("a closed ledger leaves neither nonces nor answers to payments", () => {
  const { state } = createLedger("mainnet", { seedLanguage: "", refreshFromHeight: 0 });
  const nonces = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte));
  const answer = bytesOf('{"tx_key":"..."}');
  state.multisigNonces.set("a", nonces.slice(0, 2));
  state.multisigNonces.set("b", nonces.slice(2));
  const intents = [{ outcome: undefined }, { outcome: { answer } }, { outcome: { answer: undefined } }];
  wipeSecrets({ ...state, intents: intents as never });
  for (const bytes of [...nonces, answer]) assert.ok(bytes.every((byte) => byte === 0));
});

for (const count of [1, 13])
  test(`outputs tried for ${count} wallets at once leave no derivations but those that are kept`, async (t) => {
    const random = seededRandom("sift");
    const wallets = Array.from({ length: count }, () => createKeys(random));
    const [payer, bob] = [createKeys(random), wallets[0]!];
    const inputs = [receive(payer, { amount: 700n, globalIndex: 1000 }, random)];
    const rings = inputs.map((input) => ringAround(input, random));
    const planned = { inputs, rings, destinations: [destinationOf(bob, 400n)], change: 200n, fee: 100n };
    const signing = { keys: payer, change: receiverOf(payer), random };
    const { transaction, txKeys } = sign({ ...planned, unlockTime: 0n }, signing);
    const derivation = generateKeyDerivation(bob.viewPublic, txKeys[0]!);
    const keys = readKeys([{ form: "whole", blob: writeTransaction(transaction) }]);
    const viewSecrets = Buffer.concat(wallets.map(({ viewSecret }) => viewSecret));
    await assertWiped(t, [derivation], async () => {
      const sifted = siftKeys(viewSecrets, keys);
      assert.equal(sifted.filter(({ trials }) => trials.of.length > 0).length, 1);
      return sifted.flatMap(({ derivations }) => derivations ?? []);
    });
  });
