import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { freePorts, reservePort } from "../src/programs/free-port.ts";
import { launch } from "../src/programs/launch.ts";

const module = JSON.stringify(new URL("../src/programs/free-port.js", import.meta.url).href);

/** Whether another process can reserve a port. */
function isFreeElsewhere(port: number): boolean {
  const script = `import { reservePort } from ${module}; console.log(await reservePort(${port}));`;
  const args = ["--input-type=module", "--eval", script];
  const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
  assert.match(stdout, /^(true|false)\n$/);
  return stdout === "true\n";
}

async function listenAt(port: number, t: TestContext) {
  const server = createServer((socket) => socket.destroy()).listen(port, "127.0.0.1");
  t.after(() => void server.close());
  await once(server, "listening");
  return server;
}

test("a port is not given again, by this process or another, before anything listens there", async (t) => {
  const [port] = await freePorts(1);
  assert.equal(await reservePort(port!), false);
  assert.equal(isFreeElsewhere(port!), false);
  await listenAt(port!, t);
});

test("a port is given by another process once the one that reserved it has ended, unless it is in use", async (t) => {
  const [port, other] = await freePorts(2);
  // So many later ones release these two.
  await freePorts(256);
  assert.equal(isFreeElsewhere(port!), true);
  assert.equal(isFreeElsewhere(port!), true);
  const server = await listenAt(other!, t);
  assert.equal(isFreeElsewhere(other!), false);
  assert.equal(await reservePort(other!), false);
  server.close();
  await once(server, "close");
  assert.equal(await reservePort(other!), true);
});

test("a program is not ready because another one answers at its port", async (t) => {
  const [port] = await freePorts(1);
  await listenAt(port!, t);
  const start = launch({ command: "sleep", args: ["60"], port: port! });
  await assert.rejects(start, { message: `port ${port} is in use` });
});
