/** What calls say of the node itself, to its owner and to strangers. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient, daemonMethods } from "@anulo/rpc";
import type { OpenChain } from "../src/chain/open-chain.ts";
import { adminHandlers } from "../src/rpc/admin.ts";
import { createAnswerMemory } from "../src/rpc/memory.ts";
import { networkHandlers } from "../src/rpc/network.ts";
import { createPublicNode, emptyChain } from "./chain-fixture.ts";
import { goldenState } from "./recorded-chains.ts";

let chain: OpenChain;
before(async () => {
  chain = await emptyChain();
});
after(() => chain.close());

/** Answers a call with this of the node, beside an empty chain. */
async function ask(name: string, node: object): Promise<Readonly<Record<string, unknown>>> {
  const { handler } = [...adminHandlers(), ...networkHandlers()].find(({ call }) => call.name === name)!;
  const { parts } = chain;
  const context = { parts, memory: createAnswerMemory(parts), dialect: "contract", startTime: 0, ...node };
  const answer = (await handler!({} as never, context as never)) as object;
  // What stays while the chain does is kept apart.
  return "facts" in answer && "changing" in answer
    ? { ...(answer.facts as object), ...(answer.changing as object) }
    : (answer as Readonly<Record<string, unknown>>);
}

test("get_info tells how far the chain of the peers goes until the node has it, and strangers less", async () => {
  const peer = (direction: "in" | "out", zone = "public") => ({ direction, zone });
  const node = {
    network: {
      peers: () => [peer("in"), peer("in"), peer("out"), peer("in"), peer("out", "tor")],
      counts: () => ({ white: 7, gray: 8 }),
    },
    bootstrap: { address: "198.51.100.1:18081", wasEverUsed: true },
    connectionCount: () => 5,
    changes: () => 0,
    offline: false,
    restricted: false,
  };
  const syncing = { sync: { isBusy: true, isSynchronized: false, target: 900 } };
  const info = await ask("get_info", { ...node, peers: syncing });
  assert.deepEqual([info.target_height, info.synchronized, info.busy_syncing], [900, false, true]);
  assert.deepEqual([info.incoming_connections_count, info.outgoing_connections_count], [3, 1]);
  assert.deepEqual([info.white_peerlist_size, info.grey_peerlist_size], [7, 8]);
  assert.deepEqual([info.bootstrap_daemon_address, info.rpc_connections_count], ["198.51.100.1:18081", 5]);
  assert.equal(info.was_bootstrap_ever_used, true);
  const synchronized = { sync: { isBusy: false, isSynchronized: true, target: 900 } };
  const toStrangers = await ask("get_info", { ...node, peers: synchronized, restricted: true });
  const { target_height, synchronized: isThere, busy_syncing } = toStrangers;
  assert.deepEqual([target_height, isThere, busy_syncing], [0, true, false]);
  for (const name of [
    "incoming_connections_count",
    "outgoing_connections_count",
    "white_peerlist_size",
    "grey_peerlist_size",
    "rpc_connections_count",
  ])
    assert.equal(toStrangers[name], 0, name);
  assert.deepEqual(
    [toStrangers.bootstrap_daemon_address, toStrangers.was_bootstrap_ever_used, toStrangers.restricted],
    ["", false, true],
  );
});

test("get_bans tells when a ban ends, or in the other dialect how long it still lasts", async () => {
  const until = chain.parts.now() + 100;
  const ban = { host: "198.51.100.1", ip: 1 };
  const bans = { list: () => [{ ...ban, until }] };
  assert.deepEqual(await ask("get_bans", { bans }), { bans: [{ ...ban, seconds: until }] });
  assert.deepEqual(await ask("get_bans", { bans, dialect: "upstream" }), {
    bans: [{ ...ban, seconds: 100 }],
  });
});

test("blocks beside the chain are counted as soon as they are there, within the same second", async () => {
  const node = createPublicNode();
  await node.start();
  const daemon = createClient(daemonMethods, node.urls[0]!);
  const wallet_address = goldenState().wallets.a.address;
  const { blocks } = await daemon.generateBlocks({ amount_of_blocks: 2, wallet_address });
  const counts = [(await daemon.getInfo()).alt_blocks_count];
  await daemon.generateBlocks({ amount_of_blocks: 1, wallet_address, prev_block: blocks[0]! });
  counts.push((await daemon.getInfo()).alt_blocks_count);
  daemon.close();
  await node.stop();
  assert.deepEqual(counts, [0, 1]);
});
