import assert from "node:assert/strict";
import { test } from "node:test";
import { hardForkAt, networks } from "@anulo/protocol";
import {
  countVotes,
  forkState,
  forkVoting,
  nextForkVersion,
  VOTING_WINDOW,
  votedVersion,
} from "../src/index.ts";

const { mainnet, testnet, stagenet } = networks;

test("every published fork begins at its height, however blocks vote", () => {
  for (const network of [mainnet, testnet, stagenet]) {
    for (const { height, version } of network.hardForks) {
      for (const votes of [new Map(), countVotes(Array(VOTING_WINDOW).fill(1), 16)]) {
        assert.equal(votedVersion(network.hardForks, { height, votes, current: 1 }), version);
        const before = votedVersion(network.hardForks, { height: height - 1, votes, current: 1 });
        assert.equal(before, hardForkAt(network, height - 1));
      }
    }
  }
  assert.equal(hardForkAt(mainnet, 1_009_826), 1);
  assert.equal(hardForkAt(mainnet, 1_009_827), 2);
});

test("a fork put to the vote waits for its share of the window, and never goes back", () => {
  const forks = [
    { version: 1, height: 0, time: 0 },
    { version: 2, height: 100, time: 1, thresholdPercent: 80 },
    { version: 3, height: 200, time: 2, thresholdPercent: 80 },
  ];
  const voted = (height: number, counts: [number, number][], current = 1) =>
    votedVersion(forks, { height, votes: new Map(counts), current });
  assert.equal(voted(150, [[2, 8063]]), 1);
  assert.equal(voted(150, [[2, 8064]]), 2);
  assert.equal(voted(99, [[2, 8064]]), 1);
  assert.equal(voted(150, [[3, 8064]]), 2);
  assert.equal(voted(200, [[3, 8064]]), 3);
  assert.equal(voted(150, [], 2), 2);
});

test("a fork that all must vote for needs every block of the window", () => {
  const forks = [
    { version: 1, height: 0, time: 0 },
    { version: 2, height: 100, time: 1, thresholdPercent: 100 },
  ];
  const voted = (count: number) =>
    votedVersion(forks, { height: 150, votes: new Map([[2, count]]), current: 1 });
  assert.equal(voted(10_079), 1);
  assert.equal(voted(10_080), 2);
});

test("a minor version of 0 votes for 1, and one nobody knows for the newest", () => {
  assert.deepEqual(
    [...countVotes([0, 1, 2, 17, 255], 16)],
    [
      [1, 2],
      [2, 1],
      [16, 2],
    ],
  );
});

test("the votes needed are rounded up, by the share that the fork in force asks for", () => {
  const forks = [
    { version: 1, height: 0, time: 0, thresholdPercent: 1 },
    { version: 2, height: 100, time: 1, thresholdPercent: 50 },
  ];
  const threshold = (height: number, window: number) =>
    forkVoting(forks, { version: 2, height, minorVersions: Array(window).fill(1) }).threshold;
  assert.deepEqual(
    [0, 1, 100, 101].map((window) => threshold(99, window)),
    [0, 1, 1, 2],
  );
  assert.deepEqual(
    [2, 3].map((window) => threshold(100, window)),
    [1, 2],
  );
});

test("how a vote stands is told for any version", () => {
  const ask = (version: number, height = 2_689_608) =>
    forkVoting(mainnet.hardForks, { version, height, minorVersions: [15, 15, 16, 255] });
  assert.deepEqual(ask(16), {
    isEnabled: true,
    window: 4,
    votes: 2,
    threshold: 0,
    earliestHeight: 2_689_608n,
    voting: 16,
  });
  assert.equal(ask(16, 2_689_607).isEnabled, false);
  assert.equal(ask(15).votes, 4);
  assert.equal(ask(17).earliestHeight, 2n ** 64n - 1n);
  assert.equal(ask(17).votes, 0);
});

test("a year after the newest fork was decided another is likely, after half a year an update is due", () => {
  const newest = mainnet.hardForks.at(-1)!.time;
  const state = (seconds: number) => forkState(mainnet.hardForks, newest + seconds);
  assert.deepEqual([state(0), state(15_778_799)], [2, 2]);
  assert.deepEqual([state(15_778_800), state(31_557_599)], [1, 1]);
  assert.equal(state(31_557_600), 0);
  assert.equal(forkState(mainnet.hardForks.slice(0, 1), 2 ** 40), 2);
});

test("the fork to come is the one above the next block's", () => {
  assert.equal(nextForkVersion(mainnet.hardForks, 0), 1);
  assert.equal(nextForkVersion(mainnet.hardForks, 1_009_826), 2);
  assert.equal(nextForkVersion(mainnet.hardForks, 1_009_827), 3);
  assert.equal(nextForkVersion(mainnet.hardForks, 3_000_000), 16);
});
