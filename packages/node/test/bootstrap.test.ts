import assert from "node:assert/strict";
import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { test } from "node:test";
import type { KnownPeer } from "@anulo/p2p";
import { type Client, createClient, daemonMethods, type RemoteError, silent } from "@anulo/rpc";
import { BadBootstrap, createNode, type Node, type NodeOptions } from "../src/index.ts";
import { createBootstrap } from "../src/rpc/bootstrap.ts";
import { pickPublicNode } from "../src/rpc/public-nodes.ts";
import { goldenState } from "./recorded-chains.ts";

type Daemon = Client<typeof daemonMethods>;

interface Running {
  readonly node: Node;
  readonly daemon: Daemon;
  /** `host:port` */
  readonly address: string;
}

const login = { user: "someone", password: "something" };
const unsupported = "This command is unsupported for bootstrap daemon";

/** Nodes sign their certificates themselves. */
const encrypted = { mode: "enabled", trust: "anyone" } as const;

async function start(options: Partial<NodeOptions> = {}): Promise<Running> {
  const node = createNode({ network: "regtest", fixedDifficulty: 1n, verifyThreads: 0, ...options });
  await node.start();
  const url = node.urls[0]!;
  const daemon = createClient(daemonMethods, url, {
    ...(options.login !== undefined && { login }),
    ...(options.tls !== undefined && { tls: encrypted }),
  });
  return { node, daemon, address: new URL(url).host };
}

async function stop(...running: Running[]): Promise<void> {
  for (const { node, daemon } of running) {
    daemon.close();
    await node.stop();
  }
}

const mine = ({ daemon }: Running, count: number) =>
  daemon.generateBlocks({ amount_of_blocks: count, wallet_address: goldenState().wallets.a.address });

test("a node that is behind lets the bootstrap node answer, and says so", async () => {
  const ahead = await start({ login });
  await mine(ahead, 12);
  const fresh = await start({ bootstrap: { address: `http://${ahead.address}`, login } });
  try {
    const { daemon } = fresh;
    const theirs = await ahead.daemon.getInfo();
    for (const info of [await daemon.getInfo(), await daemon.getInfoPath()]) {
      assert.deepEqual([info.height, info.top_block_hash], [13, theirs.top_block_hash]);
      assert.deepEqual([info.untrusted, info.height_without_bootstrap], [true, 1]);
      assert.deepEqual([info.bootstrap_daemon_address, info.was_bootstrap_ever_used], [ahead.address, true]);
    }
    const { block_header, untrusted } = await daemon.getBlockHeaderByHeight({ height: 12n });
    assert.deepEqual([block_header.hash, untrusted], [theirs.top_block_hash, true]);
    const genesis = (await daemon.getBlockHeaderByHeight({ height: 0n })).block_header.hash;
    const blocks = await daemon.getBlocksBin({ block_ids: [Buffer.from(genesis, "hex")], start_height: 0 });
    assert.deepEqual([blocks.current_height, blocks.blocks.length, blocks.untrusted], [13, 13, true]);
    const sent = await daemon.sendRawTransaction({ tx_as_hex: "00" });
    assert.deepEqual([sent.status, sent.untrusted], ["Failed", true]);
    assert.equal((await daemon.getBlockCount()).status, unsupported);
    assert.equal(await daemon.onGetBlockHash([1n]), unsupported);
    await assert.rejects(daemon.submitBlock(["00"]), (error) => (error as RemoteError).code === -20);
    assert.equal((await daemon.syncInfo()).height, 1, "calls about this node itself it answers itself");
  } finally {
    await stop(fresh, ahead);
  }
});

test("what the bootstrap node refuses, this node answers", async () => {
  const ahead = await start();
  await mine(ahead, 12);
  const fresh = await start({ bootstrap: { address: ahead.address } });
  try {
    await assert.rejects(fresh.daemon.getBlockHeaderByHeight({ height: 50n }), ({ message }: RemoteError) =>
      message.includes("current top block height: 0"),
    );
    assert.equal((await fresh.daemon.getHeight()).untrusted, true);
  } finally {
    await stop(fresh, ahead);
  }
});

test("a node hardly behind answers itself, until the bootstrap node is named anew", async () => {
  const ahead = await start();
  await mine(ahead, 10);
  const fresh = await start({ bootstrap: { address: ahead.address } });
  try {
    const { daemon } = fresh;
    const { height, untrusted } = await daemon.getHeight();
    assert.deepEqual([height, untrusted], [1, false]);
    await mine(ahead, 5);
    assert.equal((await daemon.getBlockCount()).count, 1);
    assert.equal((await daemon.getInfo()).bootstrap_daemon_address, ahead.address);
    assert.equal((await daemon.setBootstrapDaemon({ address: ahead.address })).status, "OK");
    assert.equal((await daemon.getHeight()).height, 16);
    assert.equal((await daemon.setBootstrapDaemon({ address: "" })).status, "OK");
    const info = await daemon.getInfo();
    assert.deepEqual([info.height, info.untrusted, info.bootstrap_daemon_address], [1, false, ""]);
    assert.equal(info.was_bootstrap_ever_used, true);
  } finally {
    await stop(fresh, ahead);
  }
});

test("a bootstrap node is asked over TLS where its address or itself says so", async () => {
  const ahead = await start({ login, tls: { mode: "enabled" } });
  await mine(ahead, 12);
  for (const address of [`https://${ahead.address}`, ahead.address]) {
    const fresh = await start({ bootstrap: { address, login } });
    const info = await fresh.daemon.getInfo();
    assert.deepEqual([info.height, info.untrusted], [13, true], address);
    await stop(fresh);
  }
  const plain = await start({ bootstrap: { address: `http://${ahead.address}`, login } });
  assert.equal((await plain.daemon.getInfo()).height, 1);
  await stop(plain, ahead);
});

test("a bootstrap node that cannot be reached changes nothing", async () => {
  const fresh = await start({ bootstrap: { address: "127.0.0.1:1", login } });
  try {
    const info = await fresh.daemon.getInfo();
    assert.deepEqual([info.height, info.untrusted, info.was_bootstrap_ever_used], [1, false, false]);
    assert.equal(info.bootstrap_daemon_address, "127.0.0.1:1");
    assert.equal((await fresh.daemon.getBlockCount()).count, 1);
  } finally {
    await stop(fresh);
  }
});

test("what is no http address or no proxy is refused and changes nothing", async () => {
  const fresh = await start({ bootstrap: { address: "127.0.0.1:1" } });
  try {
    const refused = ["ftp://127.0.0.1:1", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "a@b:1", "a:1/x"];
    for (const address of refused) {
      const { status } = await fresh.daemon.setBootstrapDaemon({ address });
      assert.equal(status, "Failed to set bootstrap daemon", address);
    }
    const { status } = await fresh.daemon.setBootstrapDaemon({ address: "127.0.0.1:2", proxy: "nowhere" });
    assert.equal(status, "Failed to set bootstrap daemon");
    assert.equal((await fresh.daemon.getInfo()).bootstrap_daemon_address, "127.0.0.1:1");
  } finally {
    await stop(fresh);
  }
  assert.throws(() => createNode({ network: "regtest", bootstrap: { address: "nowhere" } }), BadBootstrap);
});

/** What a node says of itself, but ahead by a thousand blocks. */
async function infoOfAhead({ daemon }: Running): Promise<string> {
  const info = JSON.stringify(await daemon.getInfo(), (_, value) =>
    typeof value === "bigint" ? Number(value) : value,
  );
  return info.replace('"height":1,', '"height":1000,');
}

test("answers that are broken, not OK or that never come are not passed on", async () => {
  const real = await start();
  const answers = new Map([
    ["/get_info", await infoOfAhead(real)],
    ["/get_height", '{"height":1000,"hash":5,"status":"OK"}'],
    ["/get_transaction_pool_hashes", '{"status":"BUSY"}'],
    ["/is_key_image_spent", ""],
  ]);
  const liar = createServer(({ url }, response) => {
    const answer = answers.get(url!);
    if (answer === "") response.destroy();
    else if (answer !== undefined) response.end(answer);
  });
  await new Promise<void>((resolve) => liar.listen(0, "127.0.0.1", resolve));
  const fresh = await start({ bootstrap: { address: `127.0.0.1:${(liar.address() as AddressInfo).port}` } });
  try {
    const { daemon } = fresh;
    assert.equal((await daemon.getInfoPath()).height, 1000);
    const { height, untrusted } = await daemon.getHeight();
    assert.deepEqual([height, untrusted], [1, false]);
    const pool = await daemon.getTransactionPoolHashes();
    assert.deepEqual([pool.status, pool.untrusted], ["OK", false]);
    assert.equal((await daemon.isKeyImageSpent({ key_images: ["00".repeat(32)] })).untrusted, false);
    const waiting = daemon.getVersion();
    await daemon.setBootstrapDaemon({ address: "" });
    assert.equal((await waiting).untrusted, false, "what is asked of one that is given up is answered here");
  } finally {
    liar.closeAllConnections();
    liar.close();
    await stop(fresh, real);
  }
});

test("blocks for a wallet come from the bootstrap node or from nowhere", async () => {
  const ahead = await start();
  await mine(ahead, 12);
  const fresh = await start({ bootstrap: { address: ahead.address } });
  try {
    assert.equal((await fresh.daemon.getHeight()).height, 13);
    ahead.daemon.close();
    await ahead.node.stop();
    const { status, blocks } = await fresh.daemon.getBlocksBin({
      block_ids: [new Uint8Array(32)],
      start_height: 0,
    });
    assert.deepEqual([status, blocks.length], ["The bootstrap daemon did not answer", 0]);
    assert.equal((await fresh.daemon.getHeight()).height, 1);
  } finally {
    await stop(fresh);
  }
});

/** Speaks SOCKS 4 and notes whom it was asked for. */
async function socksServer(asked: number[]) {
  const sockets: Socket[] = [];
  const server = createTcpServer((client) => {
    sockets.push(client);
    client.once("data", (request) => {
      const port = request.readUInt16BE(2);
      asked.push(port);
      const target = connect({ host: "127.0.0.1", port }, () => {
        client.write(Uint8Array.of(0, 0x5a, 0, 0, 0, 0, 0, 0));
        client.pipe(target).pipe(client);
      });
      sockets.push(target);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

test("the bootstrap node is reached through the proxy alone", async () => {
  const ahead = await start({ login });
  await mine(ahead, 12);
  const asked: number[] = [];
  const proxy = await socksServer(asked);
  const fresh = await start({ bootstrap: { address: ahead.address, login, proxy: proxy.address } });
  try {
    assert.equal((await fresh.daemon.getHeight()).height, 13);
    assert.deepEqual([...new Set(asked)], [Number(new URL(ahead.node.urls[0]!).port)]);
    proxy.close();
    assert.equal((await fresh.daemon.getHeight()).height, 1);
  } finally {
    proxy.close();
    await stop(fresh, ahead);
  }
});

function known(host: string, rpcPort: number): KnownPeer {
  const address = { kind: "ipv4", host, port: 18080 } as const;
  return { address, peerId: 1n, lastSeen: 0, pruningSeed: 0, rpcPort };
}

test("public nodes are taken from the white list first, and failed ones last", () => {
  const nodes = {
    white: [known("198.51.100.1", 0), known("198.51.100.2", 18089)],
    gray: [known("198.51.100.3", 18089)],
  };
  const white = { host: "198.51.100.2", port: 18089 };
  const gray = { host: "198.51.100.3", port: 18089 };
  assert.deepEqual(pickPublicNode(nodes, []), white);
  assert.deepEqual(pickPublicNode(nodes, [white]), gray);
  assert.deepEqual(pickPublicNode(nodes, [gray, white]), white);
  assert.equal(pickPublicNode({ white: [], gray: [known("198.51.100.1", 0)] }, []), undefined);
});

test("the height of the bootstrap node is looked at every 30 seconds", async () => {
  const ahead = await start();
  await mine(ahead, 12);
  // Eleven blocks behind it is not as good as the other, ten it is.
  let [height, clock] = [2, 1_000];
  const bootstrap = createBootstrap({
    height: () => height,
    noSync: false,
    publicNodes: () => ({ white: [], gray: [] }),
    proxy: undefined,
    log: silent.in("test"),
    clockMs: () => clock,
  });
  try {
    bootstrap.choose({ address: ahead.address });
    assert.notEqual(await bootstrap.nodeAhead(), undefined);
    height = 3;
    clock += 30_000;
    assert.notEqual(await bootstrap.nodeAhead(), undefined);
    clock += 1;
    assert.equal(await bootstrap.nodeAhead(), undefined);
    assert.deepEqual([bootstrap.isWanted, bootstrap.address], [false, ahead.address]);
  } finally {
    bootstrap.stop();
    await stop(ahead);
  }
});

type PublicNodes = ReturnType<Parameters<typeof createBootstrap>[0]["publicNodes"]>;

/** A node of one block that may ask these public nodes. */
const bootstrapOf = (known: PublicNodes) =>
  createBootstrap({
    height: () => 1,
    noSync: false,
    publicNodes: () => known,
    proxy: undefined,
    log: silent.in("test"),
  });

test("of public nodes one that fails makes room for the next", async () => {
  const ahead = await start();
  await mine(ahead, 12);
  const port = Number(new URL(ahead.node.urls[0]!).port);
  const bootstrap = bootstrapOf({ white: [known("127.0.0.1", 1)], gray: [known("127.0.0.1", port)] });
  try {
    bootstrap.choose({ address: "auto", login });
    assert.deepEqual([bootstrap.isWanted, bootstrap.address], [true, ""]);
    assert.equal(await bootstrap.nodeAhead(), undefined);
    const node = await bootstrap.nodeAhead();
    assert.equal(bootstrap.address, ahead.address);
    assert.equal((await node!.ask("getHeight", {}))!.height, 13);
  } finally {
    bootstrap.stop();
    await stop(ahead);
  }
});

test("a public node that refuses a call is asked on, one that gives no answer makes room", async () => {
  const ahead = await start();
  await mine(ahead, 12);
  const port = Number(new URL(ahead.node.urls[0]!).port);
  const bootstrap = bootstrapOf({ white: [known("127.0.0.1", port)], gray: [] });
  try {
    bootstrap.choose({ address: "auto" });
    const node = (await bootstrap.nodeAhead())!;
    assert.equal(await node.ask("getBlockHeaderByHeight", { height: 50n }), undefined);
    assert.equal(bootstrap.address, ahead.address);
    assert.equal((await node.ask("getHeight", {}))!.height, 13);
    await stop(ahead);
    assert.equal(await node.ask("getHeight", {}), undefined);
    assert.equal(bootstrap.address, "");
  } finally {
    bootstrap.stop();
  }
});

test("four questions are with the bootstrap node at once, and further ones wait for their answers", {
  timeout: 600_000,
}, async ({ signal }) => {
  const real = await start();
  const info = await infoOfAhead(real);
  const height = JSON.stringify({ status: "OK", height: 1000, hash: "00".repeat(32), untrusted: false });
  let asked = 0;
  const waiting: (() => void)[] = [];
  const server = createServer(({ url }, response) => {
    if (url === "/get_info") return void response.end(info);
    asked++;
    waiting.push(() => response.end(height));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const until = async (count: number) => {
    while (asked < count) {
      signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const bootstrap = bootstrapOf({ white: [], gray: [] });
  try {
    bootstrap.choose({ address: `127.0.0.1:${(server.address() as AddressInfo).port}` });
    const node = (await bootstrap.nodeAhead())!;
    const answers: ReturnType<typeof node.ask>[] = [];
    for (let count = 1; count <= 4; count++) {
      answers.push(node.ask("getHeight", {}));
      await until(count);
    }
    for (let i = 0; i < 2; i++) answers.push(node.ask("getHeight", {}));
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(asked, 4);
    for (const answer of waiting.splice(0)) answer();
    await until(6);
    for (const answer of waiting.splice(0)) answer();
    for (const answer of await Promise.all(answers)) assert.equal(answer!.height, 1000);
  } finally {
    bootstrap.stop();
    server.closeAllConnections();
    server.close();
    await stop(real);
  }
});
