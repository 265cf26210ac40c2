/** When a chain counts as being as long as those of its peers, and how long failures hold up a retry. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type CoreSyncData, PeerFault } from "@anulo/p2p";
import { networks } from "@anulo/protocol";
import { createBackoff } from "../src/peers/backoff.ts";
import type { BlockQueue } from "../src/peers/block-queue.ts";
import { checkSyncData } from "../src/peers/check-sync-data.ts";
import type { LinkState, PeerLink } from "../src/peers/link.ts";
import { MORE_PEERS_MS } from "../src/peers/missing-blocks.ts";
import { createSyncState, type SyncStateOptions } from "../src/peers/sync-state.ts";
import { heightOfId, idOf } from "./numbered-ids.ts";
import { stillClock } from "./peer-network.ts";

const OWN = 10;

interface Told {
  readonly state?: LinkState;
  readonly height?: number;
  /** Number of its newest block; of ours are those below ten. */
  readonly top?: number;
  readonly zone?: "public" | "tor";
}

/** The state of a chain of ten blocks beside such peers. */
function stateWith(peers: readonly Told[], { spans = 0, isOffline = false } = {}) {
  const clock = stillClock(1000);
  const links = peers.map(({ state = "normal", height = OWN, top = OWN - 1, zone = "public" }) => ({
    ...{ state, height },
    peer: { zone, syncData: { topId: idOf(top) } },
  })) as unknown as PeerLink[];
  const read = {
    height: () => OWN,
    heightOf: (id: Uint8Array) => (heightOfId(id) < OWN ? heightOfId(id) : undefined),
  } as unknown as SyncStateOptions["read"];
  let finished = 0;
  const queue = { spans: Array(spans).fill({}) } as unknown as BlockQueue;
  const onSynchronized = () => void finished++;
  const state = createSyncState({ read, queue, clock, links: () => links, isOffline, onSynchronized });
  return { state, clock, links, finished: () => finished };
}

const fetching = (height: number, more: Told = {}): Told => ({ state: "synchronizing", height, ...more });

test("the longest chain that is being fetched is the target", () => {
  assert.equal(stateWith([]).state.target, 0);
  assert.equal(stateWith([fetching(30), fetching(50), { height: 90 }]).state.target, 50);
  assert.equal(stateWith([fetching(30, { state: "standby" })]).state.target, 30);
});

test("a chain that is as long as all that are fetched is synchronized, and is so from the beginning offline", () => {
  for (const [peers, options, expected] of [
    [[], {}, true],
    [[fetching(OWN)], {}, true],
    [[fetching(OWN + 1)], {}, false],
    [[{ height: 90 }], {}, true],
    [[fetching(OWN)], { spans: 1 }, false],
  ] as const) {
    const { state, finished } = stateWith(peers, options);
    assert.equal(state.isSynchronized, false);
    state.check();
    assert.deepEqual([state.isSynchronized, finished()], [expected, expected ? 1 : 0]);
  }
  assert.equal(stateWith([], { isOffline: true }).state.isSynchronized, true);
});

test("without longer chains the whole chain of a peer is enough, of one that everybody can reach", () => {
  for (const [peers, expected] of [
    [[], false],
    [[{}], true],
    [[{ zone: "tor" }], false],
    [[{ top: 50 }], false],
    [[fetching(OWN)], false],
    [[{ top: 50 }, {}], true],
  ] as const) {
    const { state, finished } = stateWith(peers);
    state.tick();
    assert.deepEqual([state.isSynchronized, finished()], [expected, expected ? 1 : 0]);
    state.tick();
    assert.equal(finished(), expected ? 1 : 0, "it is told once");
  }
});

test("longer chains of which no block comes count as invented after a while", () => {
  const limit = (6 * MORE_PEERS_MS) / 1000;
  const { state, clock } = stateWith([{}, fetching(90)]);
  const isOverAfter = (seconds: number) => {
    clock.pass(seconds);
    state.tick();
    return state.isSynchronized;
  };
  assert.equal(isOverAfter(limit - 1), false);
  state.onAdded();
  assert.equal(isOverAfter(limit - 1), false, "a block came");
  assert.equal(isOverAfter(1), true);
});

test("the while begins when a longer chain is told of", () => {
  const limit = (6 * MORE_PEERS_MS) / 1000;
  const { state, clock, links } = stateWith([{ top: 50 }]);
  clock.pass(10 * limit);
  state.tick();
  links.push(...stateWith([{}, fetching(90)]).links);
  clock.pass(limit - 1);
  state.tick();
  assert.equal(state.isSynchronized, false);
  clock.pass(1);
  state.tick();
  assert.equal(state.isSynchronized, true);
});

test("each failure holds up a retry twice as long, up to a minute, and a success ends that", () => {
  const clock = stillClock(1000);
  const backoff = createBackoff(clock);
  assert.equal(backoff.isWaiting, false);
  for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
    backoff.failed();
    clock.pass(seconds - 0.001);
    assert.equal(backoff.isWaiting, true, `${seconds}`);
    clock.pass(0.001);
    assert.equal(backoff.isWaiting, false, `${seconds}`);
  }
  backoff.failed();
  backoff.succeeded();
  assert.equal(backoff.isWaiting, false);
  backoff.failed();
  clock.pass(1);
  assert.equal(backoff.isWaiting, false);
});

test("a peer's top block has the version of its height, from the sixth on, and its chain is pruned as one can be", () => {
  const network = {
    ...networks.mainnet,
    hardForks: [1, 5, 6, 7].map((version) => ({ version, height: 10 * version, time: 0 })),
  };
  const isRefused = (currentHeight: number, topVersion: number, pruningSeed = 0) => {
    try {
      checkSyncData(network, { currentHeight, topVersion, pruningSeed } as CoreSyncData);
      return false;
    } catch (error) {
      if (error instanceof PeerFault) return true;
      throw error;
    }
  };
  assert.equal(isRefused(0, 9), false);
  assert.equal(isRefused(60, 9), false, "the top block is of version 5");
  assert.deepEqual(
    [6, 5, 7].map((version) => isRefused(61, version)),
    [false, true, true],
  );
  assert.deepEqual(
    [6, 7].map((version) => isRefused(70, version)),
    [false, true],
  );
  assert.deepEqual(
    [6, 7].map((version) => isRefused(71, version)),
    [true, false],
  );
  assert.equal(isRefused(0, 0, 1), true);
});
