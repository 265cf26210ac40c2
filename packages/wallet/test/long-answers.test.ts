import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { connectDaemon } from "../src/daemon.ts";

test("a node's answer is read up to the length its call can need", async (t) => {
  const padded = JSON.stringify({ status: "OK", height: 7, pad: "x".repeat(2 * 1024 * 1024) });
  const server = createServer((_, answer) => answer.end(padded));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const daemon = connectDaemon({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  t.after(() => {
    daemon.close();
    server.close();
  });
  await assert.rejects(daemon.getHeight(), { kind: "NO_DAEMON_CONNECTION" });
  assert.deepEqual((await daemon.getTransactions({ txs_hashes: [] })).txs, []);
});
