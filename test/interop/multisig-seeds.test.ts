import assert from "node:assert/strict";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import type { ExactObject } from "@anulo/testkit";
import { bigintOf, mine, needsRealPrograms, onStage } from "../actors.ts";
import { type Ask, fundTogether, payTogether, prepareToSign, received } from "./multisig-signers.ts";

const password = "secret";

/** Each signer's wallet, exported as a seed, is from now on in the service of the next one. */
async function changePlaces(signers: readonly Ask[]): Promise<void> {
  const told: ExactObject[] = [];
  for (const signer of signers) told.push(await keysOf(signer));
  for (const [i, signer] of signers.entries()) {
    const before = told[(i + 1) % signers.length]!;
    await signer("close_wallet");
    const { address, info, seed, was_deprecated } = await signer("restore_deterministic_wallet", {
      filename: "restored",
      password,
      seed: before.mnemonic!,
      enable_multisig_experimental: true,
    });
    assert.equal(address, before.address);
    assert.deepEqual(
      { info, seed, was_deprecated },
      { info: "Wallet has been restored successfully.", seed: "", was_deprecated: true },
    );
    assert.deepEqual(await keysOf(signer), before);
    await signer("close_wallet");
    await signer("open_wallet", { filename: "restored", password });
    assert.deepEqual(await keysOf(signer), before);
  }
}

async function keysOf(signer: Ask): Promise<ExactObject> {
  const told: Record<string, ExactObject[string]> = { ...(await signer("is_multisig")) };
  for (const key_type of ["mnemonic", "view_key", "spend_key"])
    told[key_type] = (await signer("query_key", { key_type })).key!;
  return { ...told, address: (await signer("get_address")).address! };
}

test("signers restored from seeds in each other's program spend together", needsRealPrograms, async () => {
  await onStage(async (stage) => {
    const { daemon, bob, signers, address } = await fundTogether(stage, ["real", "ours", "real"], 2);
    await changePlaces(signers);
    for (const signer of signers) assert.equal((await signer("get_address")).address, address);
    for (const [first] of signers.entries()) {
      await prepareToSign(signers);
      const group = [signers[first]!, signers[(first + 1) % signers.length]!];
      const amount = coin + BigInt(first);
      const txid = await payTogether(group, { address: bob.address, amount });
      assert.equal(await received(daemon, bob, txid), amount);
      await mine(daemon, 10, bob.address);
    }
  });
});

test("both refuse the same seeds with the same words", needsRealPrograms, async () => {
  await onStage(async (stage) => {
    const { signers } = await fundTogether(stage, ["real", "ours"], 2);
    const { mnemonic } = await keysOf(signers[0]!);
    const seed = String(mnemonic);
    const key = (n: number, digits: string) =>
      `${seed.slice(0, 16 + 64 * n)}${digits}${seed.slice(80 + 64 * n)}`;
    const nothing = "00".repeat(32);
    const bad: readonly ExactObject[] = [
      { seed, seed_offset: "x" },
      { seed: "abc" },
      { seed: "velvet lymph giddy" },
      { seed: seed.slice(0, -2) },
      { seed: `${seed}00` },
      { seed: seed.slice(0, 16) },
      { seed: `03${seed.slice(2)}` },
      { seed: `00${seed.slice(2)}` },
      { seed: `${seed.slice(0, 8)}ff${seed.slice(10)}` },
      { seed: key(0, nothing) },
      { seed: key(2, nothing) },
      { seed: key(3, nothing) },
      { seed, enable_multisig_experimental: false },
    ];
    for (const [i, params] of bad.entries()) {
      const refusals: unknown[] = [];
      for (const signer of signers) {
        const asked = { enable_multisig_experimental: true, filename: `bad${i}`, ...params };
        await assert.rejects(signer("restore_deterministic_wallet", asked), (error: Error) =>
          Boolean(refusals.push(error.message)),
        );
      }
      assert.equal(refusals[1], refusals[0]);
    }
  });
});

test("two of three who forced their rounds spend together", needsRealPrograms, async () => {
  await onStage(async (stage) => {
    const { daemon, bob, signers } = await fundTogether(stage, ["real", "ours", "ours"], 2, {
      isForced: true,
    });
    await prepareToSign(signers);
    const txid = await payTogether([signers[2]!, signers[0]!], { address: bob.address, amount: coin });
    assert.equal(await received(daemon, bob, txid), coin);
  });
});

test("spends that no import looks up are found by the next refresh", needsRealPrograms, async () => {
  await onStage(async (stage) => {
    const { daemon, bob, signers } = await fundTogether(stage, ["real", "ours", "ours"], 2);
    await prepareToSign(signers.slice(0, 2));
    const txid = await payTogether(signers.slice(0, 2), { address: bob.address, amount: coin });
    assert.equal(await received(daemon, bob, txid), coin);
    const seen = async (method: string, of: readonly Ask[]) => {
      const told: ExactObject[] = [];
      for (const signer of of) told.push(await signer(method));
      for (const other of told) assert.deepEqual(other, told[0]);
      return told[0]!;
    };
    await prepareToSign(signers, { refresh_after_import: false });
    // Those who knew the first key images look again from the change on.
    const { height } = await seen("get_height", signers.slice(0, 2));
    for (const signer of signers) await signer("refresh");
    assert.ok(bigintOf(height) < bigintOf((await seen("get_height", signers)).height));
    const { balance } = await seen("get_balance", signers);
    assert.ok(bigintOf(balance) > 0n);
  });
});
