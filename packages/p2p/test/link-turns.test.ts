import assert from "node:assert/strict";
import { test } from "node:test";
import { Link, type LinkOwner } from "../src/connection/link.ts";
import { SharedMemory } from "../src/connection/peer-memory.ts";
import { SharedWork } from "../src/connection/shared-work.ts";
import type { Transport, TransportEvents } from "../src/connection/transport.ts";
import { BadFrame, type Frame, fragmentedFrames, notificationFrame } from "../src/levin/frame.ts";
import { FairShare } from "../src/throttle.ts";
import { FakeClock, settle } from "./fakes.ts";

const LENGTH = 400_000;
const PIECE = 50_000;

/** The processor time of all peers, of which what is charged is added up. */
class CountedWork extends SharedWork {
  chargedMs = 0;

  override charge(...[peer, milliseconds]: Parameters<SharedWork["charge"]>): void {
    this.chargedMs += milliseconds;
    super.charge(peer, milliseconds);
  }
}

/** A link over a transport of which it is known whether it is paused; `limitDown` bytes a second are read. */
function createLink(limitDown = 1e9) {
  const clock = new FakeClock();
  let looks = 0;
  const work = new CountedWork({
    seconds: () => clock.seconds(),
    // Between two looks some time passes.
    milliseconds: () => clock.milliseconds() + ++looks / 1000,
    after: (ms, run) => clock.after(ms, run),
  });
  let events!: TransportEvents;
  let isPaused = false;
  const transport: Transport = {
    start: (given) => {
      events = given;
    },
    write: () => true,
    pause: () => {
      isPaused = true;
    },
    resume: () => {
      isPaused = false;
    },
    close: () => {},
  };
  const frames: Frame[] = [];
  const errors: unknown[] = [];
  const closed: string[] = [];
  const owner: LinkOwner = {
    maxBytes: () => LENGTH,
    hasResponse: () => false,
    onFrame: (frame) => void frames.push(frame),
    onError: (error) => void errors.push(error),
    onClosed: (reason) => void closed.push(reason),
  };
  const lines = {
    clock,
    up: new FairShare(clock, 1e9),
    down: new FairShare(clock, limitDown),
    memory: new SharedMemory(() => []),
    work,
  };
  const link = new Link(transport, lines, owner);
  link.raiseLimit();
  link.start();
  return {
    clock,
    work,
    frames,
    errors,
    closed,
    isPaused: () => isPaused,
    receive: (bytes: Uint8Array) => events.received(bytes),
  };
}

function* piecesOf(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

// Closes: megabytes of unfinished messages, each of whose pieces is read at once, that hold up everything else.
for (const [what, bytes] of [
  ["an unfinished message", notificationFrame(2999, new Uint8Array(LENGTH))],
  ["fragments without an end", fragmentedFrames(2999, new Uint8Array(LENGTH - 1000), 100_000)],
] as const)
  test(`${what} is read on once peers may use processor time again`, async () => {
    const { clock, work, frames, errors, closed, isPaused, receive } = createLink();
    const pieces = [...piecesOf(bytes)];
    for (const piece of pieces.slice(0, -1)) {
      work.charge(work.newPeer(), 100);
      const before = work.chargedMs;
      receive(piece);
      assert.equal(isPaused(), true);
      assert.equal(work.chargedMs, before, "it is not read yet");
      await clock.pass(2);
      await settle();
      assert.equal(isPaused(), false);
      assert.ok(work.chargedMs > before, "to read it counts");
    }
    assert.equal(frames.length, 0);
    receive(pieces.at(-1)!);
    await clock.pass(2);
    await settle();
    assert.equal(frames.length, 1);
    assert.deepEqual([errors, closed], [[], []]);
  });

test("a message is read in one go while peers have processor time", async () => {
  const { frames, errors, closed, isPaused, receive } = createLink();
  for (const piece of piecesOf(notificationFrame(2999, new Uint8Array(LENGTH)))) {
    assert.equal(isPaused(), false);
    receive(piece);
  }
  await settle();
  assert.equal(frames.length, 1);
  assert.deepEqual([errors, closed], [[], []]);
});

test("what comes faster than it may is read, and the rest once the time for it has passed", async () => {
  const message = notificationFrame(2999, new Uint8Array(1000));
  const { clock, frames, isPaused, receive, closed } = createLink(message.length);
  receive(message);
  await settle();
  assert.deepEqual([frames.length, isPaused()], [1, true]);
  // One came while the transport was being paused.
  receive(message);
  await settle();
  assert.deepEqual([frames.length, isPaused()], [2, true]);
  await clock.pass(1);
  assert.equal(isPaused(), true);
  await clock.pass(1);
  assert.equal(isPaused(), false);
  receive(message.subarray(0, 100));
  await settle();
  assert.deepEqual([frames.length, isPaused(), closed], [2, false, []]);
});

test("bytes that are no message end the connection, and its owner is told why", async () => {
  const { frames, errors, closed, receive } = createLink();
  receive(new Uint8Array(64).fill(7));
  await settle();
  assert.equal(frames.length, 0);
  assert.deepEqual(
    errors.map((error) => error instanceof BadFrame),
    [true],
  );
  assert.equal(closed.length, 1);
});
