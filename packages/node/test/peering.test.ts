/** How a node's connections and its chain belong together. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePeerAddress } from "@anulo/p2p";
import { networks } from "@anulo/protocol";
import { silent } from "@anulo/rpc";
import { createPeering } from "../src/peer-network.ts";
import { emptyChain, now } from "./chain-fixture.ts";
import { until } from "./until.ts";

type Nodes = Parameters<typeof createPeering>[0]["peers"]["nodes"];

async function open(nodes: Nodes) {
  const chain = await emptyChain();
  const peers = { listen: [{ host: "127.0.0.1", port: 0 }], allowLocal: true, nodes };
  const options = { network: networks.regtest, chain, peers, isOffline: false, now, log: silent };
  const peering = createPeering(options);
  await peering.start();
  return { chain, peering };
}

async function close({ chain, peering }: Awaited<ReturnType<typeof open>>): Promise<void> {
  await peering.stop();
  await chain.close();
}

test("what peers send is handled in turns that it shares with the work on the chain", async () => {
  const first = await open({});
  const second = await open({
    exclusive: [parsePeerAddress(`127.0.0.1:${first.peering.network.ports[0]}`)],
  });
  try {
    for (const { chain, peering } of [first, second]) {
      await until(() => peering.network.peers().length === 1);
      assert.equal(peering.network.peers()[0]!.slicing.turns, chain.parts.turns);
    }
  } finally {
    await close(second);
    await close(first);
  }
});
