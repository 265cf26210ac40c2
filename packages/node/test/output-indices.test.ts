/** The numbers of a transaction's outputs, for which wallets ask. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, daemonMethods } from "@anulo/rpc";
import { createPublicNode } from "./chain-fixture.ts";
import { goldenState } from "./recorded-chains.ts";

test("outputs of a transaction have the numbers that follow those before them; unknown ones have none", async () => {
  const node = createPublicNode();
  await node.start();
  const daemon = createClient(daemonMethods, node.urls[0]!);
  try {
    const wallet_address = goldenState().wallets.a.address;
    await daemon.generateBlocks({ amount_of_blocks: 2, wallet_address });
    const indices = async (txid: Uint8Array) => {
      const { status, o_indexes } = await daemon.getOIndexesBin({ txid });
      return [status, o_indexes];
    };
    const miners = [1n, 2n].map(async (height) => {
      const { miner_tx_hash } = await daemon.getBlock({ height });
      return Buffer.from(miner_tx_hash, "hex");
    });
    const [first, second] = await Promise.all(miners);
    assert.deepEqual(await indices(first!), ["OK", [0]]);
    assert.deepEqual(await indices(second!), ["OK", [1]]);
    for (const unknown of [new Uint8Array(32), first!.subarray(0, 31), Buffer.concat([first!, first!])])
      assert.deepEqual(await indices(unknown), ["Failed", []]);
  } finally {
    daemon.close();
    await node.stop();
  }
});
