import assert from "node:assert/strict";
import { test } from "node:test";
import { aliasesOf } from "../src/dns-flags.ts";
import { BadUsage } from "../src/flags.ts";

const none = { "no-dns": false, "trust-dns-resolver": false, offline: false };

test("names are looked up unless told otherwise, and not believed unless told so", () => {
  assert.deepEqual(aliasesOf(none, {}), { trustServers: false });
  assert.deepEqual(aliasesOf({ ...none, "trust-dns-resolver": true }, {}), { trustServers: true });
  assert.equal(aliasesOf({ ...none, "no-dns": true, "trust-dns-resolver": true }, {}), undefined);
  assert.equal(aliasesOf({ ...none, offline: true }, { DNS_PUBLIC: "tcp" }), undefined);
});

test("DNS_PUBLIC names the servers to ask", () => {
  const servers = (named: string) => aliasesOf(none, { DNS_PUBLIC: named })?.servers;
  assert.deepEqual(servers("tcp://9.8.7.6"), [{ host: "9.8.7.6", port: 53 }]);
  assert.equal(servers("tcp")?.length, 5);
  assert.equal(servers(""), undefined);
  for (const text of ["udp", "tcp://", "tcp://9.8.7", "tcp://9.8.7.256", "tcp://9.8.7.6:53", "9.8.7.6"])
    assert.throws(() => servers(text), BadUsage, text);
});
