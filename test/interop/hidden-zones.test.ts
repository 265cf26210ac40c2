import assert from "node:assert/strict";
import { connect, createServer, type Server } from "node:net";
import { test } from "node:test";
import { createPeerNetwork, type Peer, parsePeerAddress } from "@anulo/p2p";
import { blockId, genesisBlock, networks } from "@anulo/protocol";
import { call, freePorts, startDaemon } from "@anulo/testkit";
import { makerOf, needsRealPrograms } from "../actors.ts";
import { until } from "./peer-actors.ts";

/** A SOCKS 4a proxy that knows some hidden names, as Tor does, by the ports they are delivered at. */
function createTor(services: ReadonlyMap<string, number>): Server {
  return createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (request: Buffer) => {
      socket.pause();
      const name = request.subarray(request.indexOf(0, 8) + 1, -1).toString();
      const port = services.get(name);
      if (port === undefined) {
        socket.end(Buffer.from([0, 0x5b, 0, 0, 0, 0, 0, 0]));
        return;
      }
      const target = connect(port, "127.0.0.1", () => {
        socket.write(Buffer.from([0, 0x5a, 0, 0, 0, 0, 0, 0]));
        socket.pipe(target).pipe(socket);
      });
      target.on("error", () => socket.destroy());
      socket.on("close", () => target.destroy());
    });
  });
}

const ourName = "xwvz3ekocr3dkyxfkmgm2hvbpzx2ysqmaxgter7znnqrhoicygkfswid.onion";
const realName = "4pixvbejrvihnkxmduo2agsnmc3rrulrqc7s3cbwwrep6h6hrzsibeqd.onion";

test("the original and we meet as hidden services, each through a proxy", needsRealPrograms, async () => {
  const [torPort, ourPort, realPort] = (await freePorts(3)) as [number, number, number];
  const tor = createTor(
    new Map([
      [ourName, ourPort],
      [realName, realPort],
    ]),
  );
  await new Promise<void>((resolve) => tor.listen(torPort, "127.0.0.1", resolve));
  const network = networks.regtest;
  const proxy = { host: "127.0.0.1", port: torPort };
  const inbound = {
    address: parsePeerAddress(`${ourName}:18083`),
    listen: { host: "127.0.0.1", port: ourPort },
  };
  const seen: Peer[] = [];
  const ours = createPeerNetwork({
    networkId: network.peerNetworkId,
    timedSyncSeconds: 1,
    zones: [{ zone: "tor", proxy, inbound }],
    syncData: () => ({
      currentHeight: 1,
      topId: blockId(genesisBlock(network)),
      topVersion: 1,
      cumulativeDifficulty: 1n,
      pruningSeed: 0,
    }),
    onSyncData: () => {},
    onConnected: (peer) => seen.push(peer),
    onClosed: () => {},
    notifications: [],
  });
  const real = await startDaemon(makerOf("real"), {
    peers: [`${ourName}:18083`],
    extra: [
      ...["--tx-proxy", `tor,127.0.0.1:${torPort},10`],
      ...["--anonymous-inbound", `${realName}:18083,127.0.0.1:${realPort},10`],
    ],
  });
  try {
    await ours.start();
    // It calls us; in its next response it announces its address, and we call it.
    await until("both calls", () => ours.peers().length === 2);
    for (const peer of ours.peers()) assert.deepEqual([peer.zone, peer.peerId, peer.rpcPort], ["tor", 1n, 0]);
    const addresses = ours.peers().map(({ direction, address }) => `${direction} ${address.host}`);
    assert.deepEqual(addresses.sort(), ["in <unknown tor host>", `out ${realName}`]);
    const { connections } = await call(real.url, "get_connections");
    const theirs = (connections as Record<string, unknown>[]).map(
      ({ incoming, host }) => `${incoming} ${host}`,
    );
    assert.deepEqual(theirs.sort(), [`false ${ourName}`, "true <unknown tor host>"]);
    assert.deepEqual(ours.lists("public"), { white: [], gray: [] });
    assert.equal(seen.length, 2, "nobody was dropped meanwhile");
  } finally {
    await Promise.all([ours.stop(), real.stop()]);
    await new Promise((resolve) => tor.close(resolve));
  }
});
