/** Strings and addresses of a key exchange, as they were: signers may have other releases, or the original program. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { hashToScalar, publicKeyOf } from "@anulo/crypto";
import { toHex } from "@anulo/protocol";
import {
  continueKeyExchange,
  firstMessage,
  isConfirmed,
  type MultisigAccount,
  nextMessage,
  startKeyExchange,
} from "../src/multisig/key-exchange.ts";
import { parseKeyExchangeMessage } from "../src/multisig/key-exchange-message.ts";

const secretsOf = (signer: number) => ({
  spendSecret: hashToScalar(Uint8Array.of(signer, 1)),
  viewSecret: hashToScalar(Uint8Array.of(signer, 2)),
});

function agreed(threshold: number, count: number): MultisigAccount {
  const secrets = Array.from({ length: count }, (_, signer) => secretsOf(signer));
  let texts = secrets.map(firstMessage);
  let accounts = secrets.map((own, i) => startKeyExchange(own, texts.toSpliced(i, 1), threshold));
  while (!accounts.every(isConfirmed)) {
    texts = accounts.map(nextMessage);
    accounts = accounts.map((account, i) => continueKeyExchange(account, texts.toSpliced(i, 1)));
  }
  return accounts[0]!;
}

/** Those of the first signer of two of three: the signatures are random. */
const firstString = [
  "MultisigxV2R138TjqaMd3RRACDc7FMvqacFyxzvDdropLWikEo6ZA2LLHf2aH59oaZkHJoLT3Z2XSBZoDhXxcTddvfP9KT2",
  "U9ANffyK8pY8VpLGZuTXnEjP2EtUjSvm3GX9in6xgYNzo9WLcErbGA1rp6ogiQ1kNmjNzAbgSFaWa5bPNDZT888UN86ty",
].join("");
const secondString = [
  "MultisigxV2Rn1LUkp3DeSyJSTqfBaY9vYdjdiCRVdBj4gTWiKFEG5qxsh8Fu3EHago1AfwbLr9AqN756vH5SCW2TLfq3TN8",
  "2HsiL3gW1B3BmqxwCqLjJYkGpSPJcqwU6tPjkoR1f51mLe6MGN7eSVSQMQ6c3fRMe6Tb3sZjFYid2jrYMHYc9mvxJ1v9J5Ww",
  "ymfRdWv5W6eAnLREPHjWzBz3VGaGTz1MBtzzjnKA9FTf",
].join("");
const lastString = [
  "MultisigxV2Rn1WBmED6ZzjCK9YrhmLSQwCc3c14EfmJ5jW6KgZuoWkKhBaNM8zk7rXMUViSxNgUE7uVCX6wy9JGiEZ4RiCT",
  "tYA7bNYcvqWrFEcBCqLjJYkGpSPJcqwU6tPjkoR1f51mLe6MGN7ecGT21RSVc2DJK9xZxw5PGSFZT9bCoxErTb8UDqm8TLaU",
  "4GbRr77RMSuMV5tsywV1ECdpR5cTBhWQa1hV2aytaFcf",
].join("");

test("strings that were made before are read", () => {
  const account = agreed(2, 3);
  const signer = toHex(publicKeyOf(account.baseSecret));
  const first = parseKeyExchangeMessage(firstString);
  const own = parseKeyExchangeMessage(firstMessage(secretsOf(0)));
  assert.deepEqual([first, toHex(first.signer)], [own, signer]);
  const second = parseKeyExchangeMessage(secondString);
  assert.deepEqual([second.round, second.keys.length, toHex(second.signer)], [2, 2, signer]);
  const last = parseKeyExchangeMessage(lastString);
  assert.deepEqual([last.round, toHex(last.signer)], [3, signer]);
  assert.deepEqual(last.keys, [account.spendPublic, account.viewPublic]);
});

test("a string of a later round begins no exchange", () => {
  for (const later of [secondString, lastString])
    assert.throws(() => startKeyExchange(secretsOf(1), [later], 2), /not those of the first round/);
  assert.equal(startKeyExchange(secretsOf(1), [firstString], 2).signers.length, 2);
});

test("the same secrets come to the same address, view key and shares", () => {
  const results = [
    [2, 2],
    [2, 3],
    [1, 2],
    [3, 4],
    [2, 4],
  ].map(([threshold, count]) => {
    const { spendPublic, commonSecret } = agreed(threshold!, count!);
    return [toHex(spendPublic), toHex(commonSecret)];
  });
  assert.deepEqual(results, [
    [
      "edee875e108bd253a7e426dbe361fc87e7d9e36d0a3ad48e6ac4222f6d328472",
      "1db68921cd9747d05b328199dc19d5b88ad758342190f661bfed2b14b75a3505",
    ],
    [
      "289d5d017ba36c7f08616f572b9bd1850a847e0a1e96adeda336ba3496b03f39",
      "a1e75b08544ce15e19acb409480394965910f01b5e000ed36c605fd723aaf207",
    ],
    [
      "66577c452ab6d517dce50323b342f4e06f30ec7e87570e430d6c936323347ed4",
      "1db68921cd9747d05b328199dc19d5b88ad758342190f661bfed2b14b75a3505",
    ],
    [
      "8109209283b4c84ae363882cb070011e3909011bf8d9993716df36022822b8d7",
      "e5591e20df2a2e207f4bc501becb487bc57afc4fe3025f66cf35f9edd0beea04",
    ],
    [
      "4d3ea8ca5630953cb4a398c114afcce828eecac17ddbad3568301609a2b024b5",
      "e5591e20df2a2e207f4bc501becb487bc57afc4fe3025f66cf35f9edd0beea04",
    ],
  ]);
  assert.deepEqual(agreed(2, 3).shares.map(toHex), [
    "6b9ae3d2c3ecf8086d92749ca25099891fe55bbece5f0ebffc56d9d5d47b0b09",
    "4cb8c767167a3fa0d669b2cb1ad3dc46cb173333888a685ec6b750132875c605",
  ]);
});
