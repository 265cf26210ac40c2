import assert from "node:assert/strict";
import { test } from "node:test";
import { type NetworkName, networks } from "@anulo/protocol";
import { createNode } from "../src/index.ts";

/** Ids of the first blocks. Source: checkpoints.cpp; mainnet's is block 0 of every explorer. */
const firstBlocks: { readonly [N in NetworkName]: string } = {
  mainnet: "418015bb9ae982a1975da7d79277c2705727a56894ba0fb246adaabb1f4632e3",
  testnet: "48ca7cd3c8de5b6a4d53d2861fbdaedca141553559f9be9520068053cda8430b",
  stagenet: "76ee3cc98646292206cd3e86f74d88b4dcc1d937088645e9b0cbca84b7ce74eb",
  regtest: "418015bb9ae982a1975da7d79277c2705727a56894ba0fb246adaabb1f4632e3",
};

for (const name of Object.keys(firstBlocks) as NetworkName[]) {
  test(`a node of ${name} starts with its first block and rules`, async () => {
    const node = createNode({ network: name, verifyThreads: 0 });
    await node.start();
    const ask = async (method: string) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method });
      const response = await fetch(`${node.urls[0]}/json_rpc`, { method: "POST", body });
      return ((await response.json()) as { result: Record<string, unknown> }).result;
    };
    try {
      const result = await ask("get_info");
      const isRegtest = name === "regtest";
      assert.equal(result.top_block_hash, firstBlocks[name]);
      assert.equal(result.nettype, networks[name].rpcName);
      assert.equal(result.height, 1);
      assert.equal(result.difficulty, 1);
      assert.equal(result.target, isRegtest ? 120 : 60);
      // What hashes with a seed comes later on networks with a history.
      const { seed_hash: seed } = await ask("get_miner_data");
      assert.equal(seed, isRegtest ? firstBlocks.regtest : "0".repeat(64));
    } finally {
      await node.stop();
    }
  });
}
