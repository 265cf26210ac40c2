import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type CoreSyncData,
  createPeerNetwork,
  type Peer,
  type PeerNetwork,
  type PeerNetworkOptions,
  parsePeerAddress,
} from "@anulo/p2p";
import { blockId, genesisBlock, networks } from "@anulo/protocol";
import { call, loadChain, post, type RunningDaemon, startDaemon } from "@anulo/testkit";
import { makerOf, needsRealPrograms } from "../actors.ts";
import { until } from "./peer-actors.ts";
import { callFrom, frame, greeting, newsRequest, pingRequest, type RawPeer } from "./raw-peer.ts";

const network = networks.regtest;
const genesis: CoreSyncData = {
  currentHeight: 1,
  topId: blockId(genesisBlock(network)),
  topVersion: 1,
  cumulativeDifficulty: 1n,
  pruningSeed: 0,
};
interface Ours {
  readonly network: PeerNetwork;
  /** How often peers announced their chains, by who opened the connection. */
  readonly news: { in: number; out: number };
}

async function startOurs(options: Partial<PeerNetworkOptions>): Promise<Ours> {
  const news = { in: 0, out: 0 };
  const ours = createPeerNetwork({
    networkId: network.peerNetworkId,
    maxPerIp: 100,
    timedSyncSeconds: 1,
    syncData: () => genesis,
    onSyncData: ({ direction }) => {
      news[direction]++;
    },
    onConnected: () => {},
    onClosed: () => {},
    notifications: [],
    ...options,
  });
  await ours.start();
  return { network: ours, news };
}

function hasHeard({ network: ours }: Ours): boolean {
  return ours.lists("public").gray.some(({ address }) => address.host === "203.0.113.7");
}

/** The original knows of the connection what we do, its traffic but for what is under way. */
async function assertSameConnection(real: RunningDaemon, peer: Peer): Promise<void> {
  const { connections } = await call(real.url, "get_connections");
  const other = (connections as Record<string, unknown>[]).find(({ incoming }) => {
    return incoming === (peer.direction === "out");
  });
  assert.equal(other?.state, "normal");
  assert.deepEqual([Number(other.height), Number(other.support_flags)], [1, 1]);
  const { received, sent } = peer.traffic;
  assert.ok(
    Math.abs(Number(other.send_count) - received) < 2000,
    `${other.send_count} sent, ${received} came`,
  );
  assert.ok(Math.abs(Number(other.recv_count) - sent) < 2000, `${sent} sent, ${other.recv_count} came`);
}

test("the original and we call each other, exchange news and addresses", needsRealPrograms, async () => {
  const called = await startOurs({
    listen: [{ host: "127.0.0.1", port: 0 }],
    nodes: { add: [parsePeerAddress("198.51.100.9:18080")], exclusive: [parsePeerAddress("127.0.0.1:1")] },
  });
  const peers = [`127.0.0.1:${called.network.ports[0]}`];
  const real = await startDaemon(makerOf("real"), { peers, extra: ["--add-peer", "203.0.113.7:18080"] });
  const caller = await startOurs({
    nodes: { exclusive: [parsePeerAddress(`127.0.0.1:${real.p2pPort}`)] },
  });
  const both = [called, caller];
  try {
    await until("both calls", () => both.every(({ network: ours }) => ours.peers().length === 1));
    const [incoming, outgoing] = both.map(({ network: ours }) => ours.peers()[0]!);
    assert.deepEqual([incoming!.direction, outgoing!.direction], ["in", "out"]);
    assert.equal(incoming!.peerId, outgoing!.peerId);
    for (const peer of [incoming!, outgoing!]) {
      assert.equal(peer.supportFlags, 1);
      assert.deepEqual(peer.syncData, genesis);
    }
    await until("news both ways", () => called.news.in >= 3 && caller.news.out >= 3);
    await until("their addresses", () => both.every(hasHeard));
    await until("our addresses", async () => {
      const { gray_list } = await post(`${real.url}/get_peer_list`, {});
      return (
        (gray_list as { host: unknown }[] | undefined)?.some(({ host }) => host === "198.51.100.9") ?? false
      );
    });
    await assertSameConnection(real, incoming!);
    await assertSameConnection(real, outgoing!);
    await call(real.url, "set_bans", { bans: [{ host: "127.0.0.1", ban: true, seconds: 100 }] });
    await until("both closed", () => both.every(({ network: ours }) => ours.peers().length === 0));
  } finally {
    await Promise.all([called.network.stop(), caller.network.stop(), real.stop()]);
  }
});

test("a ping gets the same answer from both nodes, and each its own id", needsRealPrograms, async () => {
  const ids = new Set<unknown>();
  for (const kind of ["real", "ours"] as const) {
    const daemon = await startDaemon(makerOf(kind), { peers: [] });
    try {
      const pinging = await callFrom("127.0.0.1", daemon.p2pPort);
      pinging.socket.write(pingRequest());
      await until("the answer", () => pinging.frames.length > 0);
      const [{ command, fields }] = pinging.frames as [RawPeer["frames"][number]];
      const status = fields().get("status");
      assert.equal(command, 1003);
      assert.ok(status !== undefined && "value" in status);
      assert.equal(Buffer.from(status.value as Uint8Array).toString(), "OK");
      const id = fields().get("peer_id");
      assert.equal(id?.type, "uint64");
      ids.add("value" in id! ? id.value : undefined);
      pinging.socket.destroy();
    } finally {
      await daemon.stop();
    }
  }
  assert.equal(ids.size, 2);
});

/** Reproducible numbers, small enough for a choice. */
function createChance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 0x7fffffff;
    return state % below;
  };
}

/** Bytes no honest peer sends. */
function abuses(): { readonly [what: string]: readonly Buffer[] } {
  const hello = greeting(5n);
  return {
    "text of another protocol": [Buffer.from("GET / HTTP/1.1\r\n\r\n")],
    "random bytes": [Buffer.from("c0ffee".repeat(100), "hex")],
    "another network": [greeting(6n, new Uint8Array(16))],
    "a frame too long before the handshake": [frame(1001, Buffer.alloc(0), { length: 300_000 })],
    "a frame of many exabytes": [Buffer.concat([hello.subarray(0, 8), Buffer.alloc(25, 0xff)])],
    "news before the handshake": [newsRequest()],
    "a block before the handshake": [frame(2008, Buffer.alloc(100), { isRequest: false })],
    "a second handshake": [hello, hello],
    "a ping too long": [hello, frame(1003, Buffer.alloc(5000))],
    "transactions too long": [hello, frame(2002, Buffer.alloc(0), { isRequest: false, length: 2 ** 32 - 1 })],
    "news that cannot be read": [hello, frame(1002, Buffer.from("nonsense"))],
    "a block that cannot be read": [hello, frame(2008, Buffer.from("nonsense"), { isRequest: false })],
    "a flood of requests": [hello, ...Array.from({ length: 100 }, () => pingRequest())],
    "an answer nobody asked for": [hello, Buffer.concat([answerHeader(), Buffer.alloc(10)])],
  };
}

function answerHeader(): Buffer {
  const header = frame(1002, Buffer.alloc(0), { isRequest: false, length: 10 });
  header.writeUInt32LE(2, 25);
  return header;
}

test("hostile peers are dropped, and the node goes on with the others", needsRealPrograms, async () => {
  const real = await startDaemon(makerOf("real"), { peers: [] });
  const ours = await startDaemon(makerOf("ours"), { peers: [`127.0.0.1:${real.p2pPort}`] });
  let host = 1;
  const attack = async (pieces: readonly Buffer[]) => {
    const peer = await callFrom(`127.0.1.${++host}`, ours.p2pPort);
    for (const bytes of pieces) peer.socket.write(bytes);
    return peer;
  };
  const height = async (daemon: RunningDaemon) => Number((await call(daemon.url, "get_info")).height);
  const peerCount = async () => {
    const { connections } = await call(ours.url, "get_connections");
    return (connections as unknown[] | undefined)?.length ?? 0;
  };
  try {
    await until("a peer", async () => (await peerCount()) === 1);
    for (const [what, pieces] of Object.entries(abuses())) {
      const peer = await attack(pieces);
      await until(what, () => peer.isClosed);
    }
    const next = createChance(11);
    const good = [
      newsRequest(),
      pingRequest(),
      greeting(9n),
      frame(2010, pingRequest().subarray(33), { isRequest: false }),
    ];
    const mutated: RawPeer[] = [];
    for (let i = 0; i < 60; i++) {
      const bytes = Buffer.from(good[i % good.length]!);
      for (let j = 0; j <= i % 3; j++) bytes[next(bytes.length)] = next(256);
      mutated.push(await attack(i % good.length === 2 ? [bytes] : [greeting(BigInt(100 + i)), bytes]));
    }
    const silent = await Promise.all(
      Array.from({ length: 100 }, () => attack([greeting(3n).subarray(0, 20)])),
    );
    const { address } = loadChain().wallets.alice;
    await call(real.url, "generateblocks", { amount_of_blocks: 3, wallet_address: address });
    await until("the blocks of the honest peer", async () => (await height(ours)) === 4);
    await until("the silent are gone", () => silent.every((peer) => peer.isClosed));
    for (const { socket } of mutated) socket.destroy();
    await until("only the honest peer is left", async () => (await peerCount()) === 1);
  } finally {
    await Promise.all([real.stop(), ours.stop()]);
  }
});
