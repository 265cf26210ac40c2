import assert from "node:assert/strict";
import { test } from "node:test";
import type { ExactObject } from "@anulo/testkit";
import { listOf, onStage } from "../actors.ts";
import { observe } from "./observe.ts";
import { readRecording, realChains } from "./recordings.ts";

for (const chain of realChains()) {
  test(`${chain.name}: node and wallets say what the original programs said`, async (t) => {
    const recorded = readRecording(chain.name);
    const own = await onStage((stage) => observe(stage, "ours", chain));
    assert.deepEqual(own.headers, recorded.headers);
    assert.deepEqual(own.state, recorded.state);
    for (const name of Object.keys(chain.wallets)) {
      const [ownWallet, wallet] = [own, recorded].map(({ wallets }) => (wallets as ExactObject)[name]);
      assert.deepEqual(ownWallet, wallet, name);
      const { transfers } = wallet as { transfers: ExactObject };
      const counts = Object.entries(transfers).map(([kind, list]) => `${listOf(list).length} ${kind}`);
      t.diagnostic(`${name}: ${counts.join(", ")}`);
    }
    assert.equal(listOf(own.headers).length, chain.blocks.length);
  });
}
