import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { BytePieces } from "../src/schema/byte-pieces.ts";
import type { Body } from "../src/server/answer.ts";
import { Outgoing } from "../src/server/http/outgoing.ts";

const PIECE_BYTES = 64 * 1024;
const head = "HTTP/1.1 200 Ok\r\n\r\n";

/** Sends an answer to a caller that takes each write when it is told to; what was written, and how long the rest was held. */
async function send(body: Body) {
  const writes: Buffer[] = [];
  const held: (number | "released")[] = [];
  let most = 0;
  const take = (chunks: readonly Buffer[], done: () => void) => {
    writes.push(Buffer.concat(chunks));
    setImmediate(done);
  };
  const socket = new Duplex({
    read() {},
    write: (chunk: Buffer, _, done) => take([chunk], done),
    writev: (chunks, done) =>
      take(
        chunks.map(({ chunk }) => chunk as Buffer),
        done,
      ),
  });
  const hold = {
    resize: (bytes: number) => void held.push(bytes),
    release: () => void held.push("released"),
  };
  const answer = { head, body, closes: false, hold } as unknown as ConstructorParameters<typeof Outgoing>[1];
  const outgoing = new Outgoing(socket as Socket, answer);
  await new Promise<void>((resolve) => {
    outgoing.onSent = resolve;
    if (outgoing.start()) resolve();
    most = socket.writableLength;
  });
  return { writes, held, most };
}

test("a body arrives whole behind its head, in whatever form and however long it is", async () => {
  const bytes = randomBytes(9 * PIECE_BYTES + 5);
  for (const length of [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 2 * PIECE_BYTES, bytes.length]) {
    const body = bytes.subarray(0, length);
    const half = Math.floor(length / 2);
    const pieces = new BytePieces([body.subarray(0, half), body.subarray(half)]);
    for (const form of [body, body.toString("latin1"), pieces]) {
      const { writes, held } = await send(form);
      const whole = Buffer.concat(writes);
      assert.equal(whole.toString("latin1"), head + body.toString("latin1"), `${typeof form} of ${length}`);
      assert.equal(held.at(-1), "released");
      assert.equal(held.filter((each) => each === "released").length, 1);
    }
  }
});

test("a head goes out together with the first bytes of its body", async () => {
  const bytes = randomBytes(9 * PIECE_BYTES);
  for (const length of [1, PIECE_BYTES, PIECE_BYTES + 1, bytes.length]) {
    const { writes } = await send(bytes.subarray(0, length));
    assert.ok(writes[0]!.length >= head.length + Math.min(length, PIECE_BYTES), `${length}`);
  }
});

test("of a long body some pieces wait at once, and what was sent is held no longer", async () => {
  const bytes = randomBytes(20 * PIECE_BYTES);
  const { held, most } = await send(new BytePieces([bytes]));
  assert.equal(most, head.length + 4 * PIECE_BYTES);
  const rest = Array.from({ length: 19 }, (_, i) => (19 - i) * PIECE_BYTES);
  assert.deepEqual(held, [...rest, "released"]);
});

test("a caller is too slow who takes less than the least rate in a whole window, each beginning where the last ended", async () => {
  const taken: (() => void)[] = [];
  const socket = new Duplex({
    read() {},
    write: (_chunk, _, done) => void taken.push(done),
    writev: (_chunks, done) => void taken.push(done),
  });
  const answer = { head, body: randomBytes(40 * PIECE_BYTES), closes: false };
  const outgoing = new Outgoing(
    socket as Socket,
    answer as unknown as ConstructorParameters<typeof Outgoing>[1],
  );
  // Whole, so that sums and differences are exact.
  const begin = Math.ceil(performance.now());
  assert.equal(outgoing.start(), false);
  const take = async () => {
    taken.shift()!();
    await new Promise(setImmediate);
  };
  // A window of a thousand seconds, in which what the socket is given at once has to be taken: four pieces.
  const rate = { slowMs: 1e6, leastRate: (4 * PIECE_BYTES) / 1000 };
  assert.equal(outgoing.isTooSlow(begin + 0.9e6, rate), false, "the window is not over");
  await take();
  assert.equal(outgoing.isTooSlow(begin + 1e6, rate), false, "four pieces in a window");
  assert.equal(outgoing.isTooSlow(begin + 2e6 - 1, rate), false, "the second window is not over");
  assert.equal(outgoing.isTooSlow(begin + 2e6, rate), true, "nothing was taken in it");
  await take();
  assert.equal(outgoing.isTooSlow(begin + 3e6, { ...rate, leastRate: rate.leastRate * 1.001 }), true);
  socket.destroy();
});
