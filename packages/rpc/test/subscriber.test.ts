/** What waits for a subscriber that reads slowly, to the byte; its socket passes on what the test lets it. */
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { Subscriber } from "../src/zmq/subscriber.ts";
import { zmqLimits } from "../src/zmq/zmq-limits.ts";
import { frame, greeting, readyFrame } from "../src/zmq/zmtp.ts";

const KIB = 1024;
/** Counted for each message beside its bytes. */
const OVERHEAD = 64;

type Limits = Pick<typeof zmqLimits, "receivedFrames" | "unreadBytes" | "stalledMs">;

function start(limits: { readonly [K in keyof Limits]?: Limits[K] extends number ? number : object } = {}) {
  const pieces: { readonly length: number; readonly done: () => void }[] = [];
  const closed: string[] = [];
  let now = 0;
  let isCut = false;
  const listeners = new Map<string, (chunk: Buffer) => void>();
  const socket = {
    on(event: string, listener: (chunk: Buffer) => void) {
      listeners.set(event, listener);
      return socket;
    },
    writableEnded: false,
    write: ({ length }: Uint8Array, done: () => void) => void pieces.push({ length, done }),
    end: () => void closed.push("ended"),
    destroy() {
      isCut = true;
    },
  };
  const subscriber = new Subscriber(
    socket as unknown as Socket,
    { limits: { ...zmqLimits, ...limits } as typeof zmqLimits, now: () => now },
    { onSubscription() {}, onClosed: (reason) => void closed.push(reason) },
  );
  return {
    subscriber,
    closed,
    isCut: () => isCut,
    receive: (...frames: Buffer[]) => listeners.get("data")!(Buffer.concat(frames)),
    send: (length: number) => subscriber.send(Buffer.alloc(length)),
    /** Lengths of what the socket was given and has not passed on. */
    given: () => pieces.map(({ length }) => length),
    passOn: () => pieces.shift()!.done(),
    passTime(milliseconds: number) {
      now += milliseconds;
      subscriber.checkTime();
    },
  };
}

test("a message counts its bytes and 64 more until it is passed on, piece by piece", () => {
  const { subscriber, send, given, passOn } = start();
  assert.equal(subscriber.unread, 0);
  send(100);
  send(150 * KIB);
  send(7);
  const last = 150 * KIB - 2 * 64 * KIB;
  const all = 100 + 150 * KIB + 7 + 3 * OVERHEAD;
  assert.equal(subscriber.unread, all);
  assert.deepEqual(given(), [100, 64 * KIB], "no more than a piece above what is on its way");
  passOn();
  assert.equal(subscriber.unread, all - 100 - OVERHEAD);
  assert.deepEqual(given(), [64 * KIB]);
  passOn();
  assert.deepEqual(given(), [64 * KIB]);
  passOn();
  assert.deepEqual(given(), [last, 7]);
  assert.equal(subscriber.unread, last + 7 + 2 * OVERHEAD);
  passOn();
  passOn();
  assert.equal(subscriber.unread, 0);
});

test("what is waited for is there once all is passed on, or the connection is closed", async () => {
  const { subscriber, send, passOn } = start();
  await subscriber.whenDrained();
  send(10);
  send(10);
  let isDrained = false;
  const drained = subscriber.whenDrained().then(() => {
    isDrained = true;
  });
  passOn();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isDrained, false);
  passOn();
  await drained;
  send(10);
  const whenClosed = subscriber.whenDrained();
  subscriber.close("enough");
  await whenClosed;
  await subscriber.whenDrained();
});

test("one message more than may wait closes the connection, unless it is the only one", () => {
  const exact = start({ unreadBytes: 1000 });
  exact.send(500 - OVERHEAD);
  exact.send(500 - OVERHEAD);
  assert.deepEqual([exact.closed, exact.subscriber.unread], [[], 1000]);
  const above = start({ unreadBytes: 1000 });
  above.send(500 - OVERHEAD);
  above.send(501 - OVERHEAD);
  assert.deepEqual(above.closed, ["does not read what it is sent"]);
  assert.deepEqual([above.isCut(), above.subscriber.unread], [true, 0]);
  above.send(1);
  assert.equal(above.subscriber.unread, 0, "nothing waits for one that is gone");
  const long = start({ unreadBytes: 1000 });
  long.send(5000);
  assert.deepEqual(long.closed, []);
  long.send(1);
  assert.equal(long.closed.length, 1);
});

test("a subscriber that reads nothing for too long is dropped, from the first byte that waits", () => {
  const { closed, send, passOn, passTime, subscriber } = start({ stalledMs: 1000 });
  passTime(zmqLimits.handshakeMs);
  send(10);
  send(10);
  // The handshake has no time left, so nothing but reading may end it here.
  Object.defineProperty(subscriber, "connectedAt", { value: Number.POSITIVE_INFINITY });
  passTime(1000);
  assert.deepEqual(closed, []);
  passOn();
  passTime(1000);
  assert.deepEqual(closed, []);
  passTime(1);
  assert.deepEqual(closed, ["reads nothing"]);
});

test("a connection without a handshake in time is dropped", () => {
  const { closed, passTime } = start();
  passTime(zmqLimits.handshakeMs);
  assert.deepEqual(closed, []);
  passTime(1);
  assert.deepEqual(closed, ["no handshake in time"]);
});

test("at an end the socket is ended where all was passed on, else at once", () => {
  const quiet = start();
  quiet.subscriber.end("over");
  assert.deepEqual(quiet.closed, ["ended", "over"]);
  const busy = start();
  busy.send(10);
  busy.subscriber.end("over");
  busy.subscriber.end("over again");
  assert.deepEqual([busy.closed, busy.isCut()], [["over"], true]);
});

test("frames are taken as many as may come at once, and more as time passes, but no more than these are saved up", () => {
  const { subscriber, closed, receive, passTime } = start({ receivedFrames: { burst: 10, perSecond: 4 } });
  subscriber.start();
  receive(greeting(), readyFrame("SUB"));
  const other = frame(0, Buffer.of(2));
  const take = (count: number) => {
    receive(...Array.from({ length: count }, () => other));
    return closed.length === 0;
  };
  assert.ok(take(9), "READY was one, too");
  passTime(250);
  assert.ok(take(1));
  passTime(500);
  assert.ok(take(2));
  passTime(10_000);
  assert.ok(take(10));
  passTime(249);
  assert.ok(!take(1));
  assert.deepEqual(closed, ["too many frames"]);
});
