import assert from "node:assert/strict";
import { test } from "node:test";
import { hashToScalar, IDENTITY, pointSum, publicKeyOf } from "@anulo/crypto";
import { BadHex, fromHex, toHex } from "@anulo/protocol";
import { RemoteError } from "@anulo/rpc";
import {
  continueKeyExchange,
  firstMessage,
  isConfirmed,
  type MultisigAccount,
  nextMessage,
  startKeyExchange,
} from "../src/multisig/key-exchange.ts";
import { BadMultisigSeed, formatMultisigSeed, parseMultisigSeed } from "../src/multisig/seed.ts";
import { startTestService } from "./service.ts";

function agreed(threshold: number, count: number): MultisigAccount[] {
  const secrets = Array.from({ length: count }, (_, signer) => ({
    spendSecret: hashToScalar(Uint8Array.of(signer, 1)),
    viewSecret: hashToScalar(Uint8Array.of(signer, 2)),
  }));
  let texts = secrets.map(firstMessage);
  let accounts = secrets.map((own, i) => startKeyExchange(own, texts.toSpliced(i, 1), threshold));
  while (!accounts.every(isConfirmed)) {
    texts = accounts.map(nextMessage);
    accounts = accounts.map((account, i) => continueKeyExchange(account, texts.toSpliced(i, 1)));
  }
  return accounts;
}

for (const [threshold, count] of [
  [2, 2],
  [1, 2],
  [2, 3],
  [2, 4],
  [3, 3],
] as const) {
  test(`every signer of ${threshold} of ${count} comes back from his seed`, () => {
    for (const account of agreed(threshold, count)) {
      const seed = formatMultisigSeed(account);
      assert.deepEqual(parseMultisigSeed(seed), account);
      assert.deepEqual(parseMultisigSeed(seed.toUpperCase()), account);
    }
  });
}

const [account] = agreed(2, 3) as [MultisigAccount];
const seed = formatMultisigSeed(account);
const atKey = (n: number) => 16 + 64 * n;
const withKey = (n: number, key: Uint8Array) =>
  `${seed.slice(0, atKey(n))}${toHex(key)}${seed.slice(atKey(n + 1))}`;
const withCounts = (threshold: number, total: number) => {
  const counts = Buffer.alloc(8);
  counts.writeUInt32LE(threshold, 0);
  counts.writeUInt32LE(total, 4);
  return `${counts.toString("hex")}${seed.slice(16)}`;
};
const zero = new Uint8Array(32);
const tooLarge = new Uint8Array(32).fill(0xff);
/** A point of order 8. */
const smallOrder = fromHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05");
const stranger = publicKeyOf(hashToScalar(Uint8Array.of(9)));

const bad: Record<string, string> = {
  empty: "",
  "cut short": seed.slice(0, -2),
  "too long": `${seed}00`,
  "only counts": seed.slice(0, 16),
  "no signer needed": withCounts(0, 3),
  "more needed than there are": withCounts(4, 3),
  "one signer": withCounts(1, 1),
  "more signers than there can be": withCounts(2, 17),
  "counts that overflow": withCounts(0xffff_ffff, 0xffff_ffff),
  "many signers of a few bytes": withCounts(8, 16),
  "no base secret": withKey(0, zero),
  "a base secret above the order": withKey(0, tooLarge),
  "a stranger's base secret": withKey(0, hashToScalar(Uint8Array.of(9))),
  "a spend key that is no point": withKey(1, tooLarge),
  "the identity for a spend key": withKey(1, IDENTITY),
  "a spend key of small order": withKey(1, smallOrder),
  "no common secret": withKey(2, zero),
  "another common secret": withKey(2, hashToScalar(Uint8Array.of(9))),
  "another view key": withKey(3, stranger),
  "no share": withKey(4, zero),
  "a share above the order": withKey(5, tooLarge),
  "a signer who is no point": withKey(7, tooLarge),
  "a signer twice": withKey(7, fromHex(seed.slice(atKey(6), atKey(7)))),
};
for (const [name, text] of Object.entries(bad)) {
  test(`a seed is refused: ${name}`, () => {
    assert.throws(() => parseMultisigSeed(text), BadMultisigSeed);
  });
}

test("other letters than hexadecimal digits are refused by name", () => {
  for (const text of ["abc", "zz", "velvet lymph giddy"])
    assert.throws(() => parseMultisigSeed(text), BadHex);
});

test("where one signer is enough, or all must sign, a changed share or address is noticed", () => {
  for (const threshold of [1, 2]) {
    const [own] = agreed(threshold, 2) as [MultisigAccount];
    for (const part of [{ shares: [hashToScalar(Uint8Array.of(9))] }, { spendPublic: stranger }])
      assert.throws(() => parseMultisigSeed(formatMultisigSeed({ ...own, ...part })), BadMultisigSeed);
  }
});

test("the key of a wallet from before 0.18, the plain sum of all signers' keys, is taken", () => {
  const [own] = agreed(2, 2) as [MultisigAccount];
  const old = { ...own, shares: [own.baseSecret], spendPublic: pointSum(own.signers) };
  assert.deepEqual(parseMultisigSeed(formatMultisigSeed(old)), old);
});

test("a service restores a signer from a seed, and says the same seed again", async (t) => {
  const { call } = await startTestService({ dialect: "upstream" }, t);
  const given = { seed, enable_multisig_experimental: true };
  const restored = await call.restoreDeterministicWallet({ ...given, filename: "back", password: "p" });
  assert.deepEqual(
    { ...restored, address: "" },
    { address: "", info: "Wallet has been restored successfully.", seed: "", was_deprecated: true },
  );
  await call.closeWallet({});
  await call.openWallet({ filename: "back", password: "p" });
  assert.deepEqual(await call.isMultisig({}), { multisig: true, ready: true, threshold: 2, total: 3 });
  assert.equal((await call.getAddress({})).address, restored.address);
  assert.equal((await call.queryKey({ key_type: "mnemonic" })).key, seed);
  const refusals: [Parameters<typeof call.restoreDeterministicWallet>[0], RegExp][] = [
    [{ ...given, seed_offset: "x" }, /^Multisig seeds are not compatible with seed offsets$/],
    [{ ...given, seed: "zz" }, /^Multisig seed not represented as hexadecimal string$/],
    [{ ...given, seed: bad["cut short"]! }, /^invalid multisig seed$/],
    [{ seed }, /^Electrum-style word list failed verification$/],
  ];
  for (const [params, message] of refusals) {
    await assert.rejects(call.restoreDeterministicWallet({ filename: "none", ...params }), (error) => {
      assert.ok(error instanceof RemoteError);
      assert.equal(error.code, -1);
      assert.match(error.message, message);
      assert.ok(!error.message.includes(seed.slice(16, 48)));
      return true;
    });
  }
  // A refused seed leaves the wallet that was open alone.
  assert.equal((await call.getAddress({})).address, restored.address);
});
