import assert from "node:assert/strict";
import { test } from "node:test";
import { hashToScalar, publicKeyOf, scAdd } from "@anulo/crypto";
import { decodeBase58, encodeBase58, toHex } from "@anulo/protocol";
import {
  checkAccount,
  continueKeyExchange,
  firstMessage,
  hasAddress,
  isConfirmed,
  KeyExchangeRefused,
  type MultisigAccount,
  nextMessage,
  roundsRequired,
  startKeyExchange,
} from "../src/multisig/key-exchange.ts";
import {
  BadKeyExchangeMessage,
  claimOfMessage,
  formatKeyExchangeMessage,
  parseKeyExchangeMessage,
} from "../src/multisig/key-exchange-message.ts";

const secretsOf = (signer: number) => ({
  spendSecret: hashToScalar(Uint8Array.of(signer, 1)),
  viewSecret: hashToScalar(Uint8Array.of(signer, 2)),
});

/** Everyone's strings of one round, given to everyone else. */
function exchanged(accounts: readonly MultisigAccount[]): MultisigAccount[] {
  const texts = accounts.map(nextMessage);
  return accounts.map((account, own) => continueKeyExchange(account, texts.toSpliced(own, 1)));
}

function started(threshold: number, count: number): MultisigAccount[] {
  const secrets = Array.from({ length: count }, (_, signer) => secretsOf(signer));
  const texts = secrets.map(firstMessage);
  return secrets.map((own, signer) => startKeyExchange(own, texts.toSpliced(signer, 1), threshold));
}

/** All groups of `size` of these. */
function groups<T>(of: readonly T[], size: number): T[][] {
  if (size === 0) return [[]];
  return of.flatMap((first, at) => groups(of.slice(at + 1), size - 1).map((rest) => [first, ...rest]));
}

for (const [threshold, count] of [
  [2, 2],
  [2, 3],
  [3, 3],
  [1, 2],
  [1, 3],
  [3, 4],
  [2, 4],
  [2, 5],
] as const) {
  test(`${threshold} of ${count} signers come to one address that any ${threshold} can spend from`, () => {
    let accounts = started(threshold, count);
    assert.ok(accounts.every((account) => account.roundsComplete === 1));
    while (!accounts.every(hasAddress)) accounts = exchanged(accounts);
    assert.ok(!accounts.some(isConfirmed));
    accounts = exchanged(accounts);
    assert.ok(accounts.every(isConfirmed));
    for (const account of accounts) checkAccount(account);
    const [first] = accounts as [MultisigAccount];
    assert.equal(first.roundsComplete, roundsRequired(first) + 1);
    for (const { spendPublic, commonSecret } of accounts) {
      assert.equal(toHex(spendPublic), toHex(first.spendPublic));
      assert.equal(toHex(commonSecret), toHex(first.commonSecret));
    }
    for (const group of groups(accounts, threshold)) {
      const shares = new Map(group.flatMap((one) => one.shares.map((share) => [toHex(share), share])));
      assert.equal(toHex(publicKeyOf([...shares.values()].reduce(scAdd))), toHex(first.spendPublic));
    }
    for (const group of groups(accounts, threshold - 1)) {
      const shares = new Map(group.flatMap((one) => one.shares.map((share) => [toHex(share), share])));
      if (shares.size === 0) continue;
      assert.notEqual(toHex(publicKeyOf([...shares.values()].reduce(scAdd))), toHex(first.spendPublic));
    }
  });
}

test("a stored account that contradicts itself is refused, and one of two to sixteen signers is not", () => {
  const [account] = started(2, 3) as [MultisigAccount];
  const own = publicKeyOf(account.baseSecret);
  const keys = Array.from({ length: 16 }, (_, i) => publicKeyOf(hashToScalar(Uint8Array.of(9, i))));
  const [one, two, three] = account.signers as [Uint8Array, Uint8Array, Uint8Array];
  const beyond = new Uint8Array(32).fill(255);
  const wrong: readonly (readonly [Partial<MultisigAccount>, RegExp])[] = [
    [{ baseSecret: beyond }, /group order/],
    [{ commonSecret: beyond }, /group order/],
    [{ shares: [beyond] }, /group order/],
    [{ threshold: 0 }, /invalid threshold/],
    [{ threshold: 4 }, /invalid threshold/],
    [{ threshold: 1, signers: [own] }, /number of signers/],
    [{ signers: [own, ...keys] }, /number of signers/],
    [{ signers: [one, two, beyond] }, /key is none/],
    [{ signers: keys.slice(0, 3) }, /own key is not among/],
    [{ signers: [one, two, three, three] }, /named twice/],
    [{ roundsComplete: 0 }, /more rounds/],
    [{ roundsComplete: roundsRequired(account) + 2 }, /more rounds/],
  ];
  for (const [part, why] of wrong)
    assert.throws(
      () => checkAccount({ ...account, ...part }),
      (error: Error) => {
        assert.ok(error instanceof KeyExchangeRefused);
        assert.match(error.message, why);
        return true;
      },
    );
  for (const part of [
    {},
    { threshold: 1, signers: [own, keys[0]!] },
    { threshold: 16, signers: [own, ...keys.slice(1)] },
    { threshold: 3 },
    { roundsComplete: roundsRequired(account) + 1 },
  ])
    checkAccount({ ...account, ...part });
});

test("a string is not read with one byte changed, and not as another kind", () => {
  const text = firstMessage(secretsOf(0));
  assert.equal(parseKeyExchangeMessage(text).round, 1);
  const at = text.length - 3;
  const changed = `${text.slice(0, at)}${text[at] === "2" ? "3" : "2"}${text.slice(at + 1)}`;
  for (const bad of [changed, "", "x", `MultisigV1${text}`, text.slice(0, -1), text.replace("R1", "Rn")]) {
    assert.throws(() => parseKeyExchangeMessage(bad), BadKeyExchangeMessage);
  }
});

test("a later string of the first round, of too many keys or by another signer is refused", () => {
  const { spendSecret: secret } = secretsOf(0);
  const key = publicKeyOf(secret);
  const stringOf = (round: number, count: number) =>
    formatKeyExchangeMessage({ round, keys: Array(count).fill(key), commonSecret: undefined }, secret);
  for (const round of [0, 1]) {
    assert.throws(() => parseKeyExchangeMessage(stringOf(round, 1)), /round 1 has messages of its own/);
    assert.throws(() => claimOfMessage(stringOf(round, 1)), /round 1 has messages of its own/);
  }
  assert.deepEqual(claimOfMessage(stringOf(2, 3)), { round: 2, keyCount: 3 });
  const { round, keys, signer } = parseKeyExchangeMessage(stringOf(2, 3));
  assert.deepEqual([round, keys.map(toHex), toHex(signer)], [2, Array(3).fill(toHex(key)), toHex(key)]);
  const content = decodeBase58(stringOf(2, 3).slice("MultisigxV2Rn".length));
  // The last 96 bytes are the signer's key and the signature, before them are the keys.
  const forged = content.slice();
  forged.set(publicKeyOf(secretsOf(1).spendSecret), forged.length - 96);
  const text = `MultisigxV2Rn${encodeBase58(forged)}`;
  assert.throws(() => parseKeyExchangeMessage(text), /the signature of the multisig string does not hold/);
});

test("strings of another round, of a stranger, twice or too few are refused", () => {
  const accounts = started(2, 3);
  const [own, ...others] = accounts as [MultisigAccount, MultisigAccount, MultisigAccount];
  const [second, third] = others.map(nextMessage) as [string, string];
  const stranger = nextMessage(started(2, 4)[3]!);
  const refused = (texts: readonly string[]) =>
    assert.throws(() => continueKeyExchange(own, texts), KeyExchangeRefused);
  refused([second]);
  refused([second, second]);
  refused([second, third, stranger]);
  refused([firstMessage(secretsOf(1)), firstMessage(secretsOf(2))]);
  refused([]);
  // The third signer's keys, signed by nobody who takes part: all that is counted fits.
  const { round, keys } = parseKeyExchangeMessage(third);
  const { spendSecret } = secretsOf(9);
  const copy = formatKeyExchangeMessage({ round, keys, commonSecret: undefined }, spendSecret);
  assert.throws(() => continueKeyExchange(own, [second, copy]), /unexpected signer/);
  const first = firstMessage(secretsOf(1));
  assert.throws(() => startKeyExchange(secretsOf(0), [first, first], 2), KeyExchangeRefused);
  assert.throws(() => startKeyExchange(secretsOf(0), [first], 3), KeyExchangeRefused);
  assert.throws(() => startKeyExchange(secretsOf(0), [], 1), KeyExchangeRefused);
  assert.throws(() => startKeyExchange(secretsOf(0), [firstMessage(secretsOf(0))], 1), /number of signers/);
  const texts = Array.from({ length: 16 }, (_, signer) => firstMessage(secretsOf(1 + signer)));
  assert.throws(() => startKeyExchange(secretsOf(0), texts, 2), /number of signers/);
  assert.equal(startKeyExchange(secretsOf(0), texts.slice(1), 16).signers.length, 16);
});

for (const [threshold, count] of [
  [2, 3],
  [3, 4],
  [2, 4],
  [2, 5],
] as const) {
  test(`a forced round of ${threshold} of ${count} does with the strings of as many as name every key`, () => {
    let accounts = started(threshold, count);
    while (!accounts.every(hasAddress)) {
      const { roundsComplete } = accounts[0]!;
      const needed = count - 1 - roundsComplete;
      const texts = accounts.map(nextMessage);
      const whole = accounts.map((account, own) => continueKeyExchange(account, texts.toSpliced(own, 1)));
      for (const [own, account] of accounts.entries()) {
        const others = texts.toSpliced(own, 1);
        const few = others.slice(own % 2, (own % 2) + needed);
        assert.throws(() => continueKeyExchange(account, few), KeyExchangeRefused);
        assert.throws(
          () => continueKeyExchange(account, few.slice(1), { isForced: true }),
          KeyExchangeRefused,
        );
        assert.deepEqual(continueKeyExchange(account, few, { isForced: true }), whole[own]);
      }
      accounts = whole;
    }
    const [own, other] = accounts as [MultisigAccount, MultisigAccount];
    assert.throws(() => continueKeyExchange(own, [nextMessage(other)]), KeyExchangeRefused);
    assert.ok(isConfirmed(continueKeyExchange(own, [nextMessage(other)], { isForced: true })));
    assert.ok(isConfirmed(continueKeyExchange(own, [nextMessage(own)], { isForced: true })));
  });
}

test("a forced round still refuses strangers, keys that are missing, and another address", () => {
  const accounts = started(2, 4);
  const [own, second, third] = accounts as [MultisigAccount, MultisigAccount, MultisigAccount];
  const texts = accounts.map(nextMessage);
  const refused = (account: MultisigAccount, given: readonly string[]) =>
    assert.throws(() => continueKeyExchange(account, given, { isForced: true }), KeyExchangeRefused);
  refused(own, []);
  refused(own, [texts[0]!, texts[0]!]);
  refused(own, [texts[1]!, texts[1]!, texts[1]!]);
  refused(own, [texts[1]!, texts[2]!, nextMessage(started(2, 5)[4]!)]);
  const poorer = { ...third, roundKeys: third.roundKeys.slice(1) };
  refused(own, [nextMessage(second), nextMessage(poorer)]);
  let finished = accounts;
  while (!finished.every(hasAddress)) finished = exchanged(finished);
  const [first, liar] = finished as [MultisigAccount, MultisigAccount];
  const elsewhere = publicKeyOf(hashToScalar(Uint8Array.of(9)));
  refused(first, [nextMessage({ ...liar, spendPublic: elsewhere })]);
  refused(first, [nextMessage(liar), nextMessage({ ...finished[2]!, viewPublic: elsewhere })]);
});

test("each key of a round is named by as many signers as share it, and by no others", () => {
  const accounts = started(2, 4);
  const [own, ...others] = accounts as [MultisigAccount, ...MultisigAccount[]];
  const ofOwn = new Set(own.roundKeys.map(toHex));
  const keys = new Map(others.flatMap(({ roundKeys }) => roundKeys.map((key) => [toHex(key), key] as const)));
  const [first, second, third] = [...keys].filter(([name]) => !ofOwn.has(name)).map(([, key]) => key);
  // All three name the first, each of them names as many as it should.
  const named = [
    [first!, second!],
    [first!, third!],
    [first!, third!],
  ];
  const texts = others.map((account, i) => {
    const shared = account.roundKeys.filter((key) => ofOwn.has(toHex(key)));
    return nextMessage({ ...account, roundKeys: [...shared, ...named[i]!] });
  });
  for (const isForced of [false, true])
    assert.throws(
      () => continueKeyExchange(own, texts, { isForced }),
      /unexpected number of recommendations/,
    );
});

test("an address that others do not confirm is not confirmed", () => {
  const accounts = started(2, 2);
  const [own, other] = accounts as [MultisigAccount, MultisigAccount];
  const lie = nextMessage({ ...other, spendPublic: publicKeyOf(hashToScalar(Uint8Array.of(9))) });
  assert.throws(() => continueKeyExchange(own, [lie]), KeyExchangeRefused);
  assert.ok(isConfirmed(continueKeyExchange(own, [nextMessage(other)])));
});

test("a forced round confirms an address only by signers who all name both its keys and nothing else", () => {
  let accounts = started(2, 4);
  while (!accounts.every(hasAddress)) accounts = exchanged(accounts);
  const [own, second, third] = accounts as [MultisigAccount, MultisigAccount, MultisigAccount];
  const { spendPublic: spend, viewPublic: view, roundsComplete } = own;
  const elsewhere = publicKeyOf(hashToScalar(Uint8Array.of(9)));
  const by = (secret: Uint8Array, ...keys: Uint8Array[]) =>
    formatKeyExchangeMessage({ round: roundsComplete + 1, keys, commonSecret: undefined }, secret);
  const [one, two, stranger] = [second.baseSecret, third.baseSecret, secretsOf(9).spendSecret];
  const refusals: readonly (readonly [RegExp, readonly string[]])[] = [
    [/come to another address/, [by(one, spend)]],
    [/come to another address/, [by(one, view)]],
    [/come to another address/, [by(one, spend, elsewhere)]],
    [/confirm more than the address/, [by(one, spend, view), by(two, spend, elsewhere)]],
    [/confirm more than the address/, [by(one, spend, view), by(two, elsewhere)]],
    [/by the same signers/, [by(one, spend, view), by(two, spend)]],
    [/by the same signers/, [by(one, spend, view), by(two, view)]],
    [/by the same signers/, [by(one, spend), by(two, view)]],
    [/by the same signers/, [by(stranger, spend, view)]],
    [/by the same signers/, [by(one, spend, view), by(stranger, spend, view)]],
  ];
  for (const [why, texts] of refusals) {
    assert.throws(() => continueKeyExchange(own, texts, { isForced: true }), why);
    assert.throws(() => continueKeyExchange(own, texts), KeyExchangeRefused);
  }
  const whole = [by(one, spend, view), by(two, view, spend), by(accounts[3]!.baseSecret, spend, view)];
  for (const texts of [whole, whole.slice(1), whole.slice(2)]) {
    assert.ok(isConfirmed(continueKeyExchange(own, texts, { isForced: true })));
    if (texts.length < 3)
      assert.throws(() => continueKeyExchange(own, texts), /not all other signers have confirmed/);
  }
  assert.ok(isConfirmed(continueKeyExchange(own, whole)));
  assert.throws(
    () => continueKeyExchange(own, [...whole, by(stranger, spend, view)]),
    /not all other signers/,
  );
});

test("a stored account that can be none is refused", () => {
  const [account] = started(2, 3) as [MultisigAccount];
  checkAccount(account);
  const tooLarge = new Uint8Array(32).fill(0xff);
  const bad: Record<string, Partial<MultisigAccount>> = {
    "a base secret above the order": { baseSecret: tooLarge },
    "a common secret above the order": { commonSecret: tooLarge },
    "a share above the order": { shares: [tooLarge] },
    "a signer twice": { signers: [...account.signers.slice(1), account.signers[1]!] },
    "more needed than there are": { threshold: 4 },
    "more rounds than there are": { roundsComplete: 9 },
  };
  for (const [name, part] of Object.entries(bad))
    assert.throws(() => checkAccount({ ...account, ...part }), KeyExchangeRefused, name);
});
