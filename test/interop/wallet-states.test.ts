import assert from "node:assert/strict";
import { test } from "node:test";
import { walletMethods } from "@anulo/rpc";
import { call, loadChain } from "@anulo/testkit";
import { makerOf, needsRealPrograms, onStage } from "../actors.ts";
import { type Refusal, refusalOf } from "../states/refusals.ts";
import { type MethodKey, requests } from "../states/requests.ts";
import { type Endings, endAll, startPrograms } from "../states/start.ts";
import { ask, enterState, observe, type StateName, stateNames } from "../states/states.ts";

/**
 * Where the original's process dies of the request, one it refuses where ours stops, and one it reads the messages of
 * before it refuses it (DIFFERENCES.md).
 */
const passedOver: { readonly [S in StateName]?: readonly MethodKey[] } = {
  "no wallet": ["finalizeMultisig"],
  "view-only": ["exportKeyImages", "sign"],
  "multisig, not ready": ["sign"],
  "multisig, ready": ["exchangeMultisigKeys", "sign"],
  "multisig, disabled": ["sign"],
};

/** Methods of ours alone. */
const ours: ReadonlySet<MethodKey> = new Set([
  "getIntent",
  "listIntents",
  "listWallets",
  "createToken",
  "listTokens",
  "revokeToken",
  "addWebhook",
  "listWebhooks",
  "removeWebhook",
  "enableWebhook",
  "listDeadLetters",
  "replayDeadLetters",
]);

for (const state of stateNames) {
  // Without a directory the original starts with one wallet file only: a state of ours alone.
  if (state === "no wallet directory") continue;
  test(`the original refuses the same methods: ${state}`, needsRealPrograms, async (t) => {
    const endings: Endings = [];
    await onStage(async (stage) => {
      const daemon = await stage.daemon("ours", "upstream");
      const { address } = loadChain().wallets.alice;
      await call(daemon.url, "generateblocks", { amount_of_blocks: 3, wallet_address: address });
      try {
        const service = await enterState(state, startPrograms(makerOf("real"), daemon, endings));
        const seen = await observe(service);
        let count = 0;
        for (const key of Object.keys(walletMethods) as MethodKey[]) {
          const expected: Refusal | undefined = refusalOf(key, state, "upstream");
          if (expected === undefined || ours.has(key) || passedOver[state]?.includes(key)) continue;
          const told = await ask(service, walletMethods[key].name, requests[key]);
          assert.deepEqual(told, expected, key);
          count++;
        }
        assert.equal(await observe(service), seen);
        t.diagnostic(`${count} requests refused`);
      } finally {
        await endAll(endings);
      }
    });
  });
}
