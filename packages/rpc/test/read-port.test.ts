import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";
import { defaultLimits } from "../src/index.ts";
import { BatchMac, RequestBatch } from "../src/peers/read-frames.ts";
import { CallerShare } from "../src/server/caller-share.ts";
import { ReadPort } from "../src/server/read-port.ts";

const key = new Uint8Array(32).fill(7);

test("nothing more is read while more than a mebibyte of responses was not received", async () => {
  const state = { isPaused: false, writes: 0 };
  const socket = Object.assign(new EventEmitter(), {
    remoteAddress: "192.0.2.1",
    writableLength: 0,
    setKeepAlive() {},
    write: () => ++state.writes > 0,
    pause() {
      state.isPaused = true;
    },
    resume() {
      state.isPaused = false;
    },
  });
  const share = new CallerShare(defaultLimits, { isForStrangers: false });
  const port = new ReadPort(socket as unknown as Socket, {
    share,
    key,
    answer: () => ({ answer: { status: 200, type: "application/json", body: "{}" }, hold: undefined }),
  });
  const mac = new BatchMac(key);
  const ask = async (unsentBytes: number) => {
    socket.writableLength = unsentBytes;
    const batch = new RequestBatch();
    batch.add({ number: 1, kind: "request", target: "/", id: "r", body: new Uint8Array() });
    port.take(batch.take(mac));
    await new Promise(setImmediate);
    return state.isPaused;
  };
  assert.equal(await ask(0), false);
  assert.equal(await ask(2 ** 20), false);
  assert.equal(await ask(2 ** 20 + 1), true);
  socket.emit("drain");
  assert.deepEqual([state.isPaused, state.writes], [false, 3]);
  port.end();
  await ask(0);
  assert.deepEqual(
    [state.writes, share.requests, share.heldBytes],
    [3, 0, 0],
    "nothing is answered any more",
  );
});
