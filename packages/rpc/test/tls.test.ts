import assert from "node:assert/strict";
import { createHash, X509Certificate } from "node:crypto";
import { connect as connectPlain } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { connect } from "node:tls";
import { createRpcServer, daemon, implementFor, type TlsOptions } from "../src/index.ts";
import { createIdentity } from "../src/server/tls/self-signed.ts";

const calls = implementFor<object>()(
  { getHeight: daemon.blocks.getHeight },
  { getHeight: () => ({ hash: "", height: 7 }) },
);
const request = "POST /get_height HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";

async function start(t: TestContext, tls: TlsOptions, slowMs = 500): Promise<{ port: number; url: string }> {
  const server = await createRpcServer({
    calls,
    listen: [{ host: "127.0.0.1", port: 0 }],
    limits: { slowMs },
    context: () => ({}),
    tls,
  });
  t.after(() => server.stop());
  return { port: Number(new URL(server.urls[0]!).port), url: server.urls[0]! };
}

/** All that comes back, "" when the connection is closed without an answer. */
function ask(port: number, options: { tls: boolean; key?: string; cert?: string }): Promise<string> {
  return new Promise((resolve) => {
    const { tls, ...own } = options;
    const socket = tls
      ? connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...own })
      : connectPlain({ port, host: "127.0.0.1" });
    let received = "";
    socket.on("data", (bytes: Buffer) => {
      received += bytes.toString();
    });
    socket.on("error", () => resolve(received));
    socket.on("close", () => resolve(received));
    socket.write(request);
  });
}

describe("TLS", () => {
  it("is told from plain HTTP by the first byte, on one port", async (t) => {
    const { port } = await start(t, { mode: "autodetect" });
    for (const tls of [true, false, true]) assert.match(await ask(port, { tls }), /"height": 7/);
  });

  it("is all that is answered where it is enabled", async (t) => {
    const { port, url } = await start(t, { mode: "enabled", identity: createIdentity(Date.now()) });
    assert.match(url, /^https:/);
    assert.match(await ask(port, { tls: true }), /"height": 7/);
    assert.equal(await ask(port, { tls: false }), "");
  });

  it("takes only the clients it was told of", async (t) => {
    const [known, signed, other] = [1, 2, 3].map(() => createIdentity(Date.now()));
    const raw = new X509Certificate(known!.certificate).raw;
    const fingerprints = [createHash("sha256").update(raw).digest("hex")];
    const { port } = await start(t, {
      mode: "enabled",
      clients: { fingerprints, authorities: signed!.certificate },
    });
    const as = ({ privateKey: key, certificate: cert }: typeof known & object) =>
      ask(port, { tls: true, key, cert });
    assert.match(await as(known!), /"height": 7/);
    assert.match(await as(signed!), /"height": 7/);
    assert.equal(await as(other!), "");
    assert.equal(await ask(port, { tls: true }), "");
  });

  it("cuts off who says nothing, or begins and does not go on", async (t) => {
    const { port } = await start(t, { mode: "autodetect" });
    for (const begun of ["", "\x16", "\x16\x03\x01\x02\x00\x01"]) {
      const socket = connectPlain({ port, host: "127.0.0.1" });
      socket.on("error", () => {});
      socket.write(begun);
      await new Promise((resolve) => socket.once("close", resolve));
    }
  });

  it("cuts off at once who ends before the first byte", { timeout: 60_000 }, async (t) => {
    const { port } = await start(t, { mode: "autodetect" }, 24 * 3_600_000);
    const socket = connectPlain({ port, host: "127.0.0.1" });
    socket.resume().end();
    await new Promise((resolve) => socket.once("close", resolve));
  });

  it("makes certificates that can be read and hold", () => {
    const { certificate, privateKey } = createIdentity(Date.UTC(2026, 0, 2));
    const read = new X509Certificate(certificate);
    assert.equal(read.subject, "CN=anulo");
    assert.ok(read.verify(read.publicKey));
    assert.equal(new Date(read.validFrom).getTime(), Date.UTC(2026, 0, 1));
    assert.match(privateKey, /BEGIN PRIVATE KEY/);
  });

  it("refuses to start with a key that is not the certificate's", async () => {
    const { privateKey } = createIdentity(Date.now());
    const { certificate } = createIdentity(Date.now());
    const starting = createRpcServer({
      calls,
      listen: [{ host: "127.0.0.1", port: 0 }],
      context: () => ({}),
      tls: { mode: "enabled", identity: { privateKey, certificate } },
    });
    await assert.rejects(starting, /mismatch/i);
  });
});
