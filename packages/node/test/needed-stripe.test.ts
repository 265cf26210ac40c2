import assert from "node:assert/strict";
import { test } from "node:test";
import { pruningSeed } from "@anulo/protocol";
import type { BlockQueue } from "../src/peers/block-queue.ts";
import type { PeerLink } from "../src/peers/link.ts";
import { neededStripe, type SyncProgress } from "../src/peers/needed-stripe.ts";

function ask(
  question: Partial<SyncProgress> & { stripes?: readonly number[]; asked?: readonly [number, number][] },
): number {
  const { stripes = [], asked = [], ...rest } = question;
  const links = stripes.map(
    (stripe) => ({ pruningSeed: stripe === 0 ? 0 : pruningSeed(stripe) }) as PeerLink,
  );
  const spans = asked.map(([start, count]) => ({ start, blocks: new Array(count) }));
  const queue = { spans } as unknown as BlockQueue;
  return neededStripe({ height: 1, target: 100_000, queue, links, maxOut: 12, ...rest });
}

test("the stripe of the next block that nobody was asked for is needed", () => {
  assert.equal(ask({ height: 4095 }), 1);
  assert.equal(ask({ height: 4096 }), 2);
  assert.equal(ask({ height: 8 * 4096 }), 1);
  assert.equal(
    ask({
      height: 4090,
      asked: [
        [4090, 10],
        [4100, 5],
      ],
    }),
    2,
  );
  assert.equal(ask({ height: 4090, asked: [[4095, 10]] }), 1, "a gap is needed first");
});

test("near the top any peer will do; where the top is not known, none is near", () => {
  assert.equal(ask({ height: 95_000 }), 0);
  assert.equal(ask({ height: 95_000, target: undefined }), 8);
});

test("where enough peers keep it, the stripe after it is sought", () => {
  assert.equal(ask({ stripes: [1, 1, 0] }), 2);
  assert.equal(ask({ stripes: [1, 1, 0, 2] }), 1);
  assert.equal(ask({ stripes: [1, 1, 1, 1, 1, 1, 0, 2] }), 2);
  assert.equal(ask({ height: 7 * 4096, stripes: [8, 8, 8] }), 1);
  assert.equal(ask({ stripes: [5, 6] }), 1);
});
