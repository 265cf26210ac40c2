import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSocksProxy } from "../src/index.ts";

const port = 9050;
const here = { host: "127.0.0.1", port };

test("a proxy is an address and port, or a URL of them", () => {
  for (const text of [
    "127.0.0.1:9050",
    "socks://127.0.0.1:9050",
    "socks4://127.0.0.1:9050",
    "socks4a://127.0.0.1:9050/x",
  ])
    assert.deepEqual(parseSocksProxy(text), here, text);
  assert.deepEqual(parseSocksProxy("socks5://127.0.0.1:9050"), { ...here, version: 5 });
  for (const text of ["[::1]:9050", "socks://[::1]:9050"])
    assert.deepEqual(parseSocksProxy(text), { host: "::1", port }, text);
});

test("a login is decoded, and may lack either part", () => {
  const logins = {
    "us%3Aer:p%40s%2Fs": { user: "us:er", password: "p@s/s" },
    "user:a:b": { user: "user", password: "a:b" },
    user: { user: "user", password: "" },
    ":password": { user: "", password: "password" },
    [`${"u".repeat(255)}:%C3%A9`]: { user: "u".repeat(255), password: "é" },
  };
  for (const [text, login] of Object.entries(logins))
    assert.deepEqual(parseSocksProxy(`socks5://${text}@127.0.0.1:9050`), { ...here, version: 5, login });
  for (const empty of ["@", ":@"])
    assert.deepEqual(parseSocksProxy(`socks5://${empty}127.0.0.1:9050`), { ...here, version: 5 });
});

test("what names no proxy is refused", () => {
  const none = [
    "",
    "0",
    "65536",
    "127.0.0.1",
    "127.0.0.1:0",
    "localhost:9050",
    "9050",
    "socks5://9050",
    "::1:9050",
    "[127.0.0.1]:9050",
    "[::1]",
    "1.2.3:9050",
    "::1:9050:",
    ":",
  ];
  const schemes = [
    "http://127.0.0.1:9050",
    "SOCKS5://127.0.0.1:9050",
    "socks6://127.0.0.1:9050",
    "socks5:127.0.0.1:9050",
  ];
  const logins = [
    "user@127.0.0.1:9050",
    "socks4://u:p@127.0.0.1:9050",
    "socks://u@127.0.0.1:9050",
    "socks5://%:p@127.0.0.1:9050",
    "socks5://%FF@127.0.0.1:9050",
  ];
  const long = [`socks5://${"u".repeat(256)}@127.0.0.1:9050`, `socks5://u:${"é".repeat(128)}@127.0.0.1:9050`];
  for (const text of [...none, ...schemes, ...logins, ...long])
    assert.equal(parseSocksProxy(text), undefined, text);
});
