import assert from "node:assert/strict";
import { test } from "node:test";
import { Connections, post } from "../src/webhooks/post.ts";
import { startReceiver } from "./receiver.ts";

/** The status of a response whose body has begun with so many bytes, and goes on. */
async function statusOfBody(bytes: number, signal: AbortSignal): Promise<number> {
  const receiver = await startReceiver();
  const connections = new Connections();
  receiver.respond = (response) => {
    response.writeHead(202);
    response.write(Buffer.alloc(bytes));
  };
  const body = JSON.stringify({ sequence: 1 });
  const resolve = async () => ["127.0.0.1"];
  try {
    const url = new URL(receiver.url);
    return await post({ url, body, headers: {}, resolve, allowsPrivate: true, connections, signal });
  } finally {
    connections.close();
    await receiver.stop();
  }
}

test("a response body ends at 4 KiB or 250 ms, whatever the receiver goes on to send", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { signal } = new AbortController();
  assert.equal(await statusOfBody(4097, signal), 202, "without a timer");
  const short = new AbortController();
  const waiting = statusOfBody(4096, short.signal);
  let isOver = false;
  void waiting.then(() => {
    isOver = true;
  });
  while (!isOver) {
    t.mock.timers.tick(250);
    await new Promise(setImmediate);
  }
  assert.equal(await waiting, 202);
});
