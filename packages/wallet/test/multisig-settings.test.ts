import assert from "node:assert/strict";
import { test } from "node:test";
import { BadBytes } from "@anulo/protocol";
import type { Json } from "@anulo/rpc";
import { signedKind, unsignedKind } from "../src/cold-signing/tx-sets.ts";
import { formatMultisigSettings, multisigOfSettings } from "../src/file/multisig-settings.ts";
import { formatMultisigSeed, parseMultisigSeed } from "../src/multisig/seed.ts";
import { multisigKind } from "../src/multisig/tx-set.ts";
import { accounts } from "./multisig-fixture.ts";

const key = (byte: number) => new Uint8Array(32).fill(byte);
const multisig = {
  ...{ threshold: 2, roundsComplete: 0, shares: [key(9)] },
  ...{ signers: [key(0), key(200), key(255)], roundKeys: [key(128)] },
};

test("what a keys file says of a multisig wallet is read back, without its shares", () => {
  const settings = new Map(formatMultisigSettings(multisig));
  const { shares: _, ...rest } = multisig;
  assert.deepEqual(multisigOfSettings(settings), rest);
  assert.equal(settings.get("multisig"), 1);
  assert.ok(!JSON.stringify([...settings]).includes(Buffer.from(key(9)).toString("latin1")));
  settings.delete("multisig_derivations");
  assert.deepEqual(multisigOfSettings(settings), { ...rest, roundKeys: [] }, "of a release that kept none");
  assert.deepEqual(formatMultisigSettings(undefined), []);
});

test("a wallet is multisig only where its keys file says so, and then in full", () => {
  const settings = new Map(formatMultisigSettings(multisig));
  for (const no of [undefined, 0, 2, "1", true]) {
    const other = new Map<string, Json>([
      ...settings,
      ...(no === undefined ? [] : [["multisig", no] as const]),
    ]);
    if (no === undefined) other.delete("multisig");
    assert.equal(multisigOfSettings(other), undefined);
  }
  const bad: readonly (readonly [string, Json])[] = [
    ...([-1, 1.5, "2", 2 ** 53] as const).map((value) => ["multisig_threshold", value] as const),
    ...([-1, null] as const).map((value) => ["multisig_rounds_passed", value] as const),
    ["multisig_signers", 7],
    ["multisig_signers", "\x01short"],
    ["multisig_derivations", false],
  ];
  for (const [name, value] of bad)
    assert.throws(
      () => multisigOfSettings(new Map<string, Json>([...settings, [name, value]])),
      BadBytes,
      name,
    );
  for (const name of ["multisig_threshold", "multisig_signers", "multisig_rounds_passed"]) {
    const other = new Map<string, Json>(settings);
    other.delete(name);
    assert.throws(() => multisigOfSettings(other), BadBytes, name);
  }
});

test("sets that signers exchange are told by the first bytes that the original's have", () => {
  const kinds = [multisigKind, unsignedKind, signedKind];
  assert.deepEqual(
    kinds.map(({ magic }) => Buffer.from(magic).toString("latin1")),
    ["Monero multisig unsigned tx set\x01", "Monero unsigned tx set\x05", "Monero signed tx set\x05"],
  );
});

test("a signer's seed has counts, keys, shares and signers in the order of the original", () => {
  const [account] = accounts;
  const { baseSecret, spendPublic, commonSecret, viewPublic, shares, signers } = account;
  const keys = [baseSecret, spendPublic, commonSecret, viewPublic, ...shares, ...signers];
  const expected = `0200000002000000${keys.map((each) => Buffer.from(each).toString("hex")).join("")}`;
  assert.equal(formatMultisigSeed(account), expected);
  assert.deepEqual(parseMultisigSeed(expected), { ...account, roundKeys: [] });
});
