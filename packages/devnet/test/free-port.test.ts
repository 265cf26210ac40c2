import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { freePorts } from "../src/programs/free-port.ts";
import { launch } from "../src/programs/launch.ts";

test("ports are not chosen again, by this process or another, before anything listens there", async () => {
  for (const port of await freePorts(3)) {
    const other = createSocket("udp4");
    other.bind({ port, address: "127.0.0.1", exclusive: true });
    const [error] = await once(other, "error");
    assert.equal(error.code, "EADDRINUSE");
    other.close();
    // A program can listen there all the same.
    const server = createServer().listen(port, "127.0.0.1");
    await once(server, "listening");
    server.close();
  }
});

test("many ports take no more than 256 descriptors", async () => {
  const [first] = await freePorts(1);
  await freePorts(256);
  const other = createSocket("udp4");
  other.bind({ port: first!, address: "127.0.0.1", exclusive: true });
  await once(other, "listening");
  other.close();
});

test("a program is not ready because another one answers at its port", async () => {
  const other = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  assert.ok(address !== null && typeof address === "object");
  try {
    const start = launch({ command: "sleep", args: ["60"], port: address.port });
    await assert.rejects(start, { message: `port ${address.port} is in use` });
  } finally {
    other.close();
  }
});
