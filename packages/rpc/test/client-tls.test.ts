import assert from "node:assert/strict";
import { createHash, X509Certificate } from "node:crypto";
import { connect, createServer, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { connectThrough } from "@anulo/socks";
import {
  type ClientOptions,
  type Connect,
  ConnectionFailed,
  checkTls,
  createClient,
  createRpcServer,
  daemon,
  implementFor,
  type RpcServerOptions,
  type ServerTls,
} from "../src/index.ts";
import { createIdentity } from "../src/server/tls/self-signed.ts";

const group = {
  getHeight: daemon.blocks.getHeight,
  sendRawTransaction: daemon.transactions.sendRawTransaction,
};
const identity = createIdentity(Date.now());
const digestOf = (algorithm: string, { certificate } = identity) =>
  createHash(algorithm).update(new X509Certificate(certificate).raw).digest("hex");

async function start(t: TestContext, options: Partial<RpcServerOptions<object>> = {}) {
  const calls = implementFor<object>()(
    { getHeight: group.getHeight },
    { getHeight: () => ({ hash: "", height: 7 }) },
  );
  const listen = [{ host: "127.0.0.1", port: 0 }];
  const server = await createRpcServer({ calls, listen, context: () => ({}), ...options });
  t.after(() => server.stop());
  return server.urls[0]!;
}

async function heightAt(url: string, options: ClientOptions): Promise<number> {
  const client = createClient(group, url, { timeoutMs: 300_000, ...options });
  try {
    return (await client.getHeight()).height;
  } finally {
    client.close();
  }
}

const trusting = (trust: ServerTls["trust"], mode: ServerTls["mode"] = "enabled") => ({
  tls: { mode, trust },
});

describe("client with TLS", () => {
  it("takes the certificates it was told of and no others", async (t) => {
    const url = await start(t, { tls: { mode: "enabled", identity } });
    const other = createIdentity(Date.now());
    const taken: ServerTls["trust"][] = [
      "anyone",
      { fingerprints: [digestOf("sha256")] },
      { fingerprints: [digestOf("sha1")] },
      { fingerprints: [], authorities: identity.certificate },
      { fingerprints: [digestOf("sha256")], authorities: other.certificate },
    ];
    for (const trust of taken) assert.equal(await heightAt(url, trusting(trust)), 7);
    const refused: ServerTls["trust"][] = [
      "system",
      { fingerprints: [digestOf("sha256", other)] },
      { fingerprints: [], authorities: other.certificate },
      { fingerprints: [] },
    ];
    for (const trust of refused) await assert.rejects(heightAt(url, trusting(trust)), ConnectionFailed);
    await assert.rejects(heightAt(url, {}), ConnectionFailed, "an https address alone asks the system");
  });

  it("is told beforehand of keys and certificates that can't be read or do not fit", () => {
    const check = (parts: Partial<ServerTls>) => checkTls({ mode: "enabled", trust: "system", ...parts });
    const { privateKey, certificate } = identity;
    const authorities = certificate;
    for (const parts of [
      {},
      { identity },
      { trust: "anyone" },
      { trust: { fingerprints: [] } },
      { trust: { fingerprints: [], authorities } },
    ] as const)
      check(parts);
    const other = createIdentity(Date.now());
    for (const parts of [
      { identity: { privateKey: "no key", certificate } },
      { identity: { privateKey, certificate: "no certificate" } },
      { identity: { privateKey: other.privateKey, certificate } },
    ])
      assert.throws(() => check(parts), Error);
  });

  it("shows who it is, and logs in", async (t) => {
    const login = { user: "u", password: "p" };
    const clients = { fingerprints: [digestOf("sha256")] };
    const url = await start(t, { tls: { mode: "enabled", clients }, login });
    const tls = { mode: "enabled", trust: "anyone", identity } as const;
    assert.equal(await heightAt(url, { tls, login }), 7);
    await assert.rejects(
      heightAt(url, { tls: { mode: "enabled", trust: "anyone" }, login }),
      ConnectionFailed,
    );
  });

  it("finds out whether the service speaks TLS, on this machine and on others", async (t) => {
    const secret = (await start(t, { tls: { mode: "enabled" } })).replace("https", "http");
    const plain = await start(t);
    const detect = trusting("anyone", "autodetect");
    for (const url of [secret, plain]) {
      assert.equal(await heightAt(url, detect), 7);
      // As another machine: only names differ.
      const elsewhere = url.replace("127.0.0.1", "node.example");
      const reach = ({ port }: { port: number }) => open(port);
      assert.equal(await heightAt(elsewhere, { ...detect, connect: reach }), 7);
    }
    for (const mode of ["enabled", "disabled"] as const) {
      await assert.rejects(heightAt(mode === "enabled" ? plain : secret, trusting("anyone", mode)));
    }
  });

  it("does not send twice what may have been done", async (t) => {
    let begun = 0;
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", (bytes: Buffer) => {
        if (bytes.toString("latin1").startsWith("POST")) begun++;
        socket.destroy();
      });
    });
    const port = await listening(t, server);
    const client = createClient(group, `http://127.0.0.1:${port}`, trusting("anyone", "autodetect"));
    await assert.rejects(client.sendRawTransaction({ tx_as_hex: "00" }), ConnectionFailed);
    assert.equal(begun, 1);
    client.close();
  });

  it("goes through a SOCKS proxy, names and all", async (t) => {
    const url = await start(t, { tls: { mode: "enabled", identity } });
    const { port: target } = new URL(url);
    const asked: string[] = [];
    const proxy = createServer((socket) => answerSocks(socket, Number(target), asked));
    const address = { host: "127.0.0.1", port: await listening(t, proxy) };
    const connectBy: Connect = (target, signal) => connectThrough(address, target, signal);
    const pinned = trusting({ fingerprints: [digestOf("sha256")] });
    assert.equal(await heightAt("https://node.onion:18081", { ...pinned, connect: connectBy }), 7);
    assert.deepEqual(asked, ["node.onion"]);
  });

  it("gives up on a service that says nothing", async (t) => {
    const port = await listening(
      t,
      createServer(() => {}),
    );
    const silent = heightAt(`https://127.0.0.1:${port}`, { ...trusting("anyone"), timeoutMs: 100 });
    await assert.rejects(silent, ConnectionFailed);
  });
});

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("error", reject);
    socket.once("connect", () => resolve(socket));
  });
}

async function listening(t: TestContext, server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  return address.port;
}

/** SOCKS 4a: every name is the service of the test. */
function answerSocks(socket: Socket, target: number, asked: string[]): void {
  socket.on("error", () => {});
  socket.once("data", (request: Buffer) => {
    asked.push(request.toString("latin1", 8).split("\0")[1] ?? "");
    const behind = connect({ host: "127.0.0.1", port: target });
    behind.on("error", () => socket.destroy());
    socket.write(Buffer.from([0, 0x5a, 0, 0, 0, 0, 0, 0]));
    socket.pipe(behind).pipe(socket);
  });
}
