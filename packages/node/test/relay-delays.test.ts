/** When a transaction that waits is relayed again: by its age, where it came from, and how often it was. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import { createLink } from "../src/peers/link.ts";
import { dueTransactions } from "../src/pool/relay-phase.ts";

const NEVER = 2n ** 64n - 1n;
const DAY = 86_400;
const received = 1_000_000;

interface Row {
  readonly phase: string;
  readonly fee: bigint;
  readonly doNotRelay: boolean;
  readonly keptByBlock: boolean;
  readonly lastRelayedTime: bigint;
}

const image = "ab".repeat(32);

/** Whether a transaction that was received at `received` is relayed so many seconds later. */
function isDueAfter(seconds: number, row: Partial<Row> = {}, isSpent = false): boolean {
  const whole = { phase: "fluff", fee: 1n, doNotRelay: false, keptByBlock: false, lastRelayedTime: NEVER };
  const entry = { row: { receiveTime: received, ...whole, ...row }, keyImages: ["cd".repeat(32), image] };
  const view = { isKeyImageSpent: (bytes: Uint8Array) => isSpent && toHex(bytes) === image };
  const parts = {
    pool: { byFeeRate: () => [entry] },
    state: { view: () => view },
    now: () => received + seconds,
  };
  return dueTransactions(parts as unknown as Parameters<typeof dueTransactions>[0]).length > 0;
}

/** The first second after it was relayed at which it is due again. */
function delayAfter(relayedAt: number): number {
  const lastRelayedTime = BigInt(received + relayedAt);
  let [low, high] = [0, DAY];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isDueAfter(relayedAt + middle, { lastRelayedTime })) high = middle;
    else low = middle;
  }
  return high;
}

test("what was never relayed is due after five minutes, unless nobody wants it relayed", () => {
  assert.deepEqual([isDueAfter(300), isDueAfter(301)], [false, true]);
  assert.equal(isDueAfter(301, { doNotRelay: true }), false);
  assert.equal(isDueAfter(301, { fee: 0n }), false);
});

test("what was relayed is due again the later the older it was, after four hours at the most", () => {
  const delays = [0, 299, 300, 599, 600, 3000, 13_799, 13_800, 14_100, 50_000].map(delayAfter);
  assert.deepEqual(
    delays,
    [300, 300, 600, 600, 900, 3300, 13_800, 14_100, 14_400, 14_400].map((seconds) => seconds + 1),
  );
});

test("on its first way a transaction is due when its embargo ends, and one of an undone block as any other", () => {
  for (const phase of ["stem", "forward"]) {
    const lastRelayedTime = BigInt(received + 50);
    assert.deepEqual(
      [49, 50].map((seconds) => isDueAfter(seconds, { phase, lastRelayedTime })),
      [false, true],
    );
    assert.equal(isDueAfter(50, { phase, lastRelayedTime, keptByBlock: true }), false);
  }
});

test("transactions that other nodes soon drop are not relayed again", () => {
  const lastRelayedTime = BigInt(received);
  assert.deepEqual(
    [1.5 * DAY, 1.5 * DAY + 1].map((seconds) => isDueAfter(seconds, { lastRelayedTime })),
    [true, false],
  );
  assert.deepEqual(
    [3.5 * DAY, 3.5 * DAY + 1].map((seconds) => isDueAfter(seconds, { lastRelayedTime, keptByBlock: true })),
    [true, false],
  );
});

test("what spends an output that the chain has spent is not relayed: the original drops who sends it", () => {
  for (const row of [{}, { keptByBlock: true }, { phase: "stem", lastRelayedTime: BigInt(received) }]) {
    assert.deepEqual([isDueAfter(301, row), isDueAfter(301, row, true)], [true, false]);
  }
});

test("of what a peer sends a hundred may be refused at once, and one more each second", () => {
  const peer = {
    syncData: { currentHeight: 5, pruningSeed: 0 },
    connectionId: Uint8Array.of(1, 255),
    reserve: () => ({}),
  } as unknown as Parameters<typeof createLink>[0];
  const { refusals, key, state, height } = createLink(peer);
  assert.deepEqual([key, state, height], ["01ff", "normal", 5]);
  for (let i = 0; i < 100; i++) assert.equal(refusals.add(10), true, `${i}`);
  assert.equal(refusals.add(10), false);
  assert.equal(refusals.add(11), false);
  assert.equal(refusals.add(13), true);
  assert.equal(refusals.add(13), false);
  assert.equal(refusals.add(12), false, "a clock that goes back forgets nothing");
  for (let i = 0; i < 100; i++) assert.equal(refusals.add(1000), true, "and nothing is saved up");
  assert.equal(refusals.add(1000), false);
});
