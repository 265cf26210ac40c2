import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { startDaemon, startWallet } from "@anulo/testkit";

const isThere = spawnSync("curl", ["--version"]).status === 0;
const isRequired = process.env.CI === "true" || process.env.ANULO_REAL_PROGRAMS === "required";
const skip = isThere || isRequired ? false : "not installed: curl";

async function curl(...args: readonly string[]): Promise<string> {
  const child = spawn("curl", ["--silent", "--show-error", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let told = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (told += String(bytes)));
  await once(child, "close");
  return told;
}

const user = "someone";
const password = "pass: wörd";
const login = ["--user", `${user}:${password}`, "--digest"];
const post = (method: string) => [
  "--data",
  `{"jsonrpc":"2.0","id":"0","method":"${method}"}`,
  "--header",
  "Content-Type: application/json",
];

test("curl logs in to both services with digest, with and without TLS", { skip }, async (t) => {
  const node = await startDaemon(
    { kind: "ours" },
    { extra: ["--rpc-login", `${user}:${password}`], tls: ["--rpc-ssl", "autodetect"] },
  );
  t.after(() => node.stop());
  const wallet = await startWallet(
    { kind: "ours" },
    {
      daemonPort: node.port,
      login: `${user}:${password}`,
      extra: ["--daemon-login", `${user}:${password}`],
    },
  );
  t.after(() => wallet.stop());
  const services = [
    { url: `${node.url}/json_rpc`, method: "get_version" },
    { url: `${node.url.replace("http", "https")}/json_rpc`, method: "get_block_count" },
    { url: `${wallet.url}/json_rpc`, method: "get_version" },
  ];
  for (const { url, method } of services) {
    const asked = [...post(method), "--insecure", url];
    assert.match(await curl(...login, ...asked), /"result"/, url);
    // Several requests of one curl: the same nonce, counted on.
    const thrice = await curl(...login, ...asked, "--next", ...login, ...asked, "--next", ...login, ...asked);
    assert.equal(thrice.match(/"result"/g)?.length, 3, thrice);
    assert.match(await curl(...asked), /401 Unauthorized/);
    assert.match(await curl("--user", `${user}:wrong`, "--digest", ...asked), /401 Unauthorized/);
    assert.match(await curl("--user", `${user}:${password}`, "--basic", ...asked), /401 Unauthorized/);
  }
});
