import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePeerAddress } from "@anulo/p2p";
import { createNode, type Node, type NodeOptions } from "../src/index.ts";
import { goldenState } from "./recorded-chains.ts";
import { until } from "./until.ts";

type Answer = Record<string, unknown>;

async function ask(node: Node, path: string, body: object = {}): Promise<Answer> {
  const response = await fetch(node.urls[0] + path, { method: "POST", body: JSON.stringify(body) });
  assert.equal(response.status, 200);
  return (await response.json()) as Answer;
}

async function call(node: Node, method: string, params: object = {}): Promise<Answer> {
  const answer = await ask(node, "/json_rpc", { jsonrpc: "2.0", id: 0, method, params });
  assert.ok(answer.result, JSON.stringify(answer));
  return answer.result as Answer;
}

const common = { network: "regtest", fixedDifficulty: 1n, verifyThreads: 0 } as const;

async function withNodes(
  options: readonly ((former: readonly Node[]) => Partial<NodeOptions>)[],
  play: (...nodes: Node[]) => Promise<void>,
): Promise<void> {
  const nodes: Node[] = [];
  try {
    for (const of of options) {
      const node = createNode({ ...common, ...of(nodes) });
      nodes.push(node);
      await node.start();
    }
    await play(...nodes);
  } finally {
    for (const node of nodes) await node.stop();
  }
}

const listening = {
  listen: [{ host: "127.0.0.1", port: 0 }],
  nodes: {
    add: ["198.51.100.9:18080", "[2001:db8::1]:18080"].map((text) => parsePeerAddress(text)),
    exclusive: [parsePeerAddress("127.0.0.1:1")],
  },
  ipv6: true,
  maxPerIp: 5,
};
const calling = ([first]: readonly Node[]): Partial<NodeOptions> => {
  const nodes = { exclusive: [parsePeerAddress(`127.0.0.1:${first!.peerPorts[0]}`)] };
  return { dialect: "upstream", peers: { nodes, timedSyncSeconds: 1, rpcPort: 18089, advertisedPort: 0 } };
};

test("connected nodes tell of each other, and blocks go from one to the other", async () => {
  await withNodes([() => ({ peers: listening }), calling], async (called, caller) => {
    const connections = async (node: Node) =>
      ((await call(node, "get_connections")).connections ?? []) as Answer[];
    await until(async () => (await connections(called)).length === 1);
    const [incoming] = await connections(called);
    assert.equal(incoming!.incoming, true);
    assert.equal(incoming!.localhost, true);
    assert.equal(incoming!.host, "127.0.0.1");
    assert.equal(incoming!.rpc_port, 18089);
    assert.match(String(incoming!.connection_id), /^[0-9a-f]{32}$/);
    assert.match(String(incoming!.peer_id), /^[0-9a-f]{16}$/);
    const { address } = goldenState().wallets.a;
    await call(called, "generateblocks", { amount_of_blocks: 3, wallet_address: address });
    await until(async () => (await call(caller, "get_info")).height === 4);
    const info = await call(called, "get_info");
    assert.deepEqual(
      [
        info.incoming_connections_count,
        info.outgoing_connections_count,
        info.white_peerlist_size,
        info.offline,
      ],
      [1, 0, 2, false],
    );
    const { peers, overview, target_height } = await call(caller, "sync_info");
    assert.equal((peers as { info: Answer }[])[0]!.info.incoming, false);
    assert.deepEqual([overview, target_height], ["[]", 0]);
    const stats = await ask(called, "/get_net_stats");
    assert.ok(Number(stats.total_bytes_in) > 300 && Number(stats.total_packets_out) > 2);
    await call(called, "set_bans", { bans: [{ host: "127.0.0.0/24", ban: true, seconds: 0 }] });
    assert.equal((await connections(called)).length, 1, "a ban of no seconds lifts one");
    await ask(called, "/in_peers", { in_peers: 0 });
    await until(async () => (await connections(called)).length === 0);
    assert.equal((await ask(called, "/in_peers", { set: false })).in_peers, 0);
  });
});

test("a node says when it has caught up, and not before", async () => {
  const heights: number[] = [];
  let node: Node;
  const onSynchronized = () => void heights.push(node.chain.store.read.height());
  const following = (nodes: readonly Node[]): Partial<NodeOptions> => {
    const options = calling(nodes);
    return { ...options, peers: { ...options.peers, onSynchronized } };
  };
  // It mines without peers, since it waits for none.
  const mining = { ...listening, noSync: true };
  const { address } = goldenState().wallets.a;
  await withNodes([() => ({ peers: mining })], async (called) => {
    await call(called, "generateblocks", { amount_of_blocks: 30, wallet_address: address });
    node = createNode({ ...common, ...following([called]) });
    try {
      await node.start();
      await until(async () => heights.length > 0);
      for (const method of ["get_info", "get_version", "sync_info"])
        assert.equal(
          (await call(node, method)).target_height ?? 0,
          0,
          `${method}: there is no target any more`,
        );
    } finally {
      await node.stop();
    }
    assert.equal(heights[0], 31);
  });
});

test("known nodes are told in both dialects, the banned only when asked for", async () => {
  await withNodes([() => ({ peers: listening }), calling], async (called, caller) => {
    const { white_list } = await ask(called, "/get_peer_list");
    assert.deepEqual(
      (white_list as Answer[]).map(({ host, port, ip }) => [host, ip, port]).sort(),
      [
        ["2001:db8::1", 0, 18080],
        [157561798, 157561798, 18080],
      ].sort(),
    );
    await until(async () => (await ask(caller, "/get_peer_list")).gray_list !== undefined);
    const { gray_list } = await ask(caller, "/get_peer_list");
    assert.deepEqual(
      (gray_list as Answer[]).map(({ host }) => host),
      ["198.51.100.9"],
    );
    await call(called, "set_bans", { bans: [{ host: "198.51.100.9", ban: true, seconds: 60 }] });
    const after = await ask(called, "/get_peer_list");
    assert.equal((after.white_list as Answer[]).length, 1);
    assert.deepEqual((await ask(called, "/get_public_nodes")).white, undefined);
  });
});

test("limits are told and set", async () => {
  await withNodes(
    [() => ({ peers: { ...listening, limitUp: 100, limitDown: 200, maxOut: 3 } })],
    async (node) => {
      const limits = async (path: string, body: object = {}) => {
        const { limit_up, limit_down, status } = await ask(node, path, body);
        return [limit_up, limit_down, status];
      };
      assert.deepEqual(await limits("/get_limit"), [100, 200, "OK"]);
      assert.deepEqual(await limits("/set_limit", { limit_up: 5 }), [5, 200, "OK"]);
      assert.deepEqual(await limits("/set_limit", { limit_up: -1, limit_down: -1 }), [8192, 32_768, "OK"]);
      assert.deepEqual(await limits("/set_limit", { limit_up: -2 }), [0, 0, "Invalid parameter"]);
      assert.equal((await ask(node, "/out_peers", { set: false })).out_peers, 3);
      assert.equal((await ask(node, "/out_peers", { out_peers: 7 })).out_peers, 7);
      assert.equal((await ask(node, "/in_peers", { set: false })).in_peers, 0xffffffff);
    },
  );
});
