import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { BadUsage } from "../src/flags.ts";
import { forTerminal, runRemote, urlOf } from "../src/remote-node.ts";

test("a node is found on the address it listens on, of either kind", () => {
  const cases = [
    ["127.0.0.1", "127.0.0.1"],
    ["0.0.0.0", "127.0.0.1"],
    ["::1", "[::1]"],
    ["[::1]", "[::1]"],
    ["::", "[::1]"],
    ["2001:db8::7", "[2001:db8::7]"],
    ["node.lan", "node.lan"],
  ] as const;
  for (const [host, expected] of cases)
    assert.equal(new URL(urlOf(host, 18081)).host, `${expected}:18081`, host);
});

test("what a node writes gives a terminal no orders", async () => {
  assert.equal(forTerminal("a\u001b[2J\u009b1m\r\nb\u007f"), "a\ufffd[2J\ufffd1m\ufffd\nb\ufffd");
  const server = createServer((_, response) => {
    const error = { code: -1, message: "no\u001b[2Jsuch" };
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: 0, error, status: "no\u001b[2Jsuch" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    for (const command of ["status", "peers"])
      await assert.rejects(
        runRemote(command, ["--rpc-bind-port", String(port)]),
        (error) => error instanceof BadUsage && !error.message.includes("\u001b"),
        command,
      );
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
