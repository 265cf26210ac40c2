import assert from "node:assert/strict";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import type { ExactObject } from "@anulo/testkit";
import {
  listOf,
  mine,
  needsRealPrograms,
  onStage,
  otherSide,
  type Side,
  type WalletActor,
} from "../actors.ts";
import { tellStory } from "./story.ts";
import { words } from "./words.ts";

async function incoming(wallet: WalletActor, txid: string): Promise<ExactObject[]> {
  await wallet.refresh();
  const { in: received } = await wallet.call("get_transfers", { in: true });
  return listOf(received).filter((transfer) => transfer.txid === txid);
}

const nameOf = { ours: "our", real: "the real" } as const satisfies Record<Side, string>;

for (const walletSide of ["real", "ours"] as const satisfies Side[]) {
  const nodeSide = otherSide[walletSide];
  const title = `${nameOf[walletSide]} wallet on ${nameOf[nodeSide]} node: same balance, pays, is paid`;
  test(title, needsRealPrograms, async (t) => {
    await onStage(async (stage) => {
      const { daemon, alice: known, bob } = await tellStory(stage, nodeSide);
      const restored = await stage.wallet(walletSide, { mnemonic: words.alice, daemonPort: daemon.port });
      assert.equal(restored.address, known.address);
      const balance = await restored.balance();
      assert.deepEqual(balance, await known.balance());
      t.diagnostic(`alice has ${balance.total} atomic units in both`);

      const there = await restored.pay([{ address: bob.address, amount: 5n * coin }]);
      await mine(daemon, 10, bob.address);
      assert.deepEqual(
        (await incoming(bob, there)).map(({ amount }) => BigInt(String(amount))),
        [5n * coin],
      );
      const back = await bob.pay([{ address: restored.address, amount: 2n * coin + 1n }]);
      await mine(daemon, 10, bob.address);
      assert.deepEqual(
        (await incoming(restored, back)).map(({ amount }) => BigInt(String(amount))),
        [2n * coin + 1n],
      );
      assert.deepEqual(await restored.balance(), await known.balance());
    });
  });
}
