import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { BadTlsSettings, type DaemonTlsSettings, readDaemonTls } from "../src/daemon-tls.ts";
import { startTestService } from "./service.ts";

const nothing: DaemonTlsSettings = {
  support: "autodetect",
  allowAnyCertificate: false,
  fingerprints: [],
  authorities: "",
  privateKey: "",
  certificate: "",
};
const files: Readonly<Record<string, string>> = {};

function read(settings: Partial<DaemonTlsSettings>, url = "http://10.0.0.1:18081") {
  const readPem = (file: string): string => {
    const text = files[file];
    if (text === undefined) throw new BadTlsSettings(`the file cannot be read: ${file}`);
    return text;
  };
  return readDaemonTls({ ...nothing, ...settings }, { url, readPem });
}

const digest = "AB".repeat(32);

test("naming certificates means TLS, a node's own word for it does not", () => {
  assert.deepEqual(read({}), { mode: "autodetect", trust: "anyone" });
  const pinned = { mode: "enabled", trust: { fingerprints: [digest.toLowerCase()] } };
  assert.deepEqual(read({ fingerprints: [digest] }), pinned);
  assert.deepEqual(read({ fingerprints: [digest.match(/../g)!.join(":")], support: "enabled" }), pinned);
  assert.deepEqual(read({ support: "disabled", fingerprints: ["no"], authorities: "missing" }), {
    mode: "disabled",
    trust: "anyone",
  });
  assert.equal(read({}, "https://10.0.0.1:18081").mode, "enabled");
  assert.deepEqual(read({ support: "enabled" }, "http://abc.onion:18081"), {
    mode: "enabled",
    trust: "anyone",
  });
  assert.deepEqual(read({ support: "enabled", allowAnyCertificate: true }).trust, "anyone");
});

test("settings that would not be safe or do not fit are refused", () => {
  for (const [settings, reason] of [
    [{ support: "enabled" }, /no user certificate or fingerprints/],
    [{ support: "maybe" }, /Invalid ssl support mode/],
    [{ fingerprints: ["abcd"] }, /32 bytes long/],
    [{ authorities: "missing" }, /cannot be read: missing/],
    [{ privateKey: "a" }, /both given or both empty/],
  ] as const) {
    assert.throws(() => read(settings), { name: "BadTlsSettings", message: reason });
  }
});

test("set_daemon refuses what it cannot obey, keeps the node it had, and does not show files", async (t) => {
  const { call, folder } = await startTestService({ node: "http://127.0.0.1:1" }, t);
  await call.createWallet({ filename: "w", language: "English" });
  const secret = join(folder, "secret");
  writeFileSync(secret, "do not show this");
  for (const params of [
    { ssl_support: "enabled" },
    { ssl_support: "nonsense" },
    { ssl_ca_file: secret },
    { ssl_private_key_path: secret, ssl_certificate_path: secret },
    { ssl_allowed_fingerprints: ["00"] },
    { address: "127.0.0.1:99999" },
  ]) {
    await assert.rejects(call.setDaemon({ address: "127.0.0.1:2", ...params }), (error: Error) => {
      assert.match(error.name, /RemoteError/);
      assert.equal((error as { code?: number }).code, -38);
      assert.doesNotMatch(error.message, /do not show/);
      return true;
    });
  }
  await call.setDaemon({ address: "127.0.0.1:2", ssl_allow_any_cert: true, ssl_support: "enabled" });
  await call.setDaemon({ address: "127.0.0.1:2", ssl_support: "disabled", ssl_ca_file: "missing.pem" });
});

test("set_daemon logs in where it is given a name or a password", async (t) => {
  const { call, service } = await startTestService({ node: "http://127.0.0.1:1" }, t);
  await call.createWallet({ filename: "w", language: "English" });
  const login = () => service.opened!.wallet.daemon.address.login;
  await call.setDaemon({ address: "127.0.0.1:2" });
  assert.equal(login(), undefined);
  for (const [username, password] of [
    ["u", ""],
    ["", "p"],
    ["u", "p"],
  ] as const) {
    await call.setDaemon({ address: "127.0.0.1:2", username, password });
    assert.deepEqual(login(), { user: username, password });
  }
});

test("set_daemon goes through the proxy it names, unless the service has one", async (t) => {
  const node = "127.0.0.1:2";
  const asked: Buffer[] = [];
  const proxy = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      asked.push(bytes);
      socket.destroy();
    });
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.after(() => proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const { call } = await startTestService({ node: "http://127.0.0.1:1" }, t);
  await call.createWallet({ filename: "w", language: "English" });
  const plain = { address: node, ssl_support: "disabled" };
  const hasCode = (code: number) => (error: unknown) => (error as { code?: number }).code === code;
  for (const text of ["nowhere", "127.0.0.1:0", "socks4://user:secret@127.0.0.1:9050"]) {
    await assert.rejects(call.setDaemon({ ...plain, proxy: text }), hasCode(-38));
  }
  await call.setDaemon({ ...plain, proxy: `127.0.0.1:${port}` });
  await assert.rejects(call.refresh({}));
  // Version 4a, connect, the port of the node.
  assert.deepEqual([...asked[0]!.subarray(0, 4)], [4, 1, 0, 2]);
  const before = asked.length;
  await call.setDaemon(plain);
  await assert.rejects(call.refresh({}));
  assert.equal(asked.length, before, "without a proxy again");

  const own = await startTestService({ proxy: { host: "127.0.0.1", port } }, t);
  await own.call.createWallet({ filename: "w", language: "English" });
  await assert.rejects(own.call.setDaemon({ ...plain, proxy: "9050" }), hasCode(-49));
});
