/** A server that takes connections and refuses everything else: what is opened there leaves no connection behind. */
import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { openPostgresEngine, openWalletLeases, StoreUnavailable } from "../src/index.ts";
import { temporaryFolder } from "./harness.ts";

/** A message of the protocol: its kind, its length, its body. Source: PostgreSQL, "Message Formats". */
function message(kind: string, body: string): Buffer {
  const bytes = Buffer.from(`${kind}\0\0\0\0${body}`, "latin1");
  bytes.writeUInt32BE(bytes.length - 1, 1);
  return bytes;
}

const authenticated = message("R", "\0\0\0\0");
const ready = message("Z", "I");
const refusal = message("E", "SERROR\0C42501\0Mnot for you\0\0");

async function startServer() {
  const { folder, remove } = temporaryFolder();
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write(Buffer.concat([authenticated, ready]));
      socket.on("data", () => socket.write(Buffer.concat([refusal, ready])));
    });
  });
  await new Promise<void>((resolve) => server.listen(join(folder, ".s.PGSQL.5432"), resolve));
  return {
    address: `postgres://test@/store?host=${encodeURIComponent(folder)}`,
    sockets,
    connections: () => connections,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      remove();
    },
  };
}

test("an engine and leases that can't be opened close the connections that they have made", async () => {
  const { address, sockets, connections, stop } = await startServer();
  try {
    const opens = [
      () => openPostgresEngine(address),
      () => openWalletLeases(address, { fleet: new Uint8Array(16), lifetimeMs: 60_000 }),
    ];
    for (const [i, open] of opens.entries()) {
      await assert.rejects(open(), StoreUnavailable);
      assert.equal(connections(), i + 1);
      for (let turn = 0; turn < 1000 && sockets.size > 0; turn++) await setImmediate();
      assert.equal(sockets.size, 0);
    }
  } finally {
    await stop();
  }
});
