import assert from "node:assert/strict";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { mine, needsRealPrograms, onStage, type Side } from "../actors.ts";
import { fundTogether, payTogether, prepareToSign, received } from "./multisig-signers.ts";

/** Two of two: multisig-spends.test.ts. */
const casts: readonly { readonly threshold: number; readonly sides: readonly Side[] }[] = [
  { threshold: 2, sides: ["real", "ours", "ours"] },
  { threshold: 3, sides: ["ours", "real", "ours", "real"] },
];

for (const { threshold, sides } of casts) {
  const cast = sides.join(", ");
  test(`${threshold} of ${sides.length} signers (${cast}) spend together`, needsRealPrograms, async (t) => {
    await onStage(async (stage) => {
      const { daemon, bob, signers } = await fundTogether(stage, sides, threshold);
      // Every signer proposes once, and those after him sign.
      for (const [first] of signers.entries()) {
        await prepareToSign(signers);
        const group = Array.from({ length: threshold }, (_, i) => signers[(first + i) % signers.length]!);
        const amount = coin + BigInt(first);
        const txid = await payTogether(group, { address: bob.address, amount });
        assert.equal(await received(daemon, bob, txid), amount);
        await mine(daemon, 10, bob.address);
      }
      const balances = new Set<string>();
      await prepareToSign(signers);
      for (const signer of signers) {
        const { balance, multisig_import_needed } = await signer("get_balance");
        assert.notEqual(multisig_import_needed, true);
        balances.add(String(balance));
      }
      assert.equal(balances.size, 1);
      t.diagnostic(`${signers.length} payments, each proposed by another signer`);
    });
  });
}
