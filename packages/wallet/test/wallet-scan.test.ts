/** A wallet in its scan thread, with a node in memory: what it answers to each message. */
import assert from "node:assert/strict";
import { randomFillSync } from "node:crypto";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { BadBytes, fromHex, toHex } from "@anulo/protocol";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { KeyHashes } from "../src/outputs/key-set.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { type Follower, ScannedBlocks } from "../src/scan/followers.ts";
import type { BlocksChange, FromWorker, PoolSnapshot, ScanTask, ToWorker } from "../src/scan/messages.ts";
import type { NodeFeeds } from "../src/scan/node-feed.ts";
import { type Looker, lookTogether } from "../src/scan/pool-look.ts";
import { PoolNumbers } from "../src/scan/pool-numbers.ts";
import { WalletScan } from "../src/scan/wallet-scan.ts";
import { createNode, ids, imageOf } from "./pool-node.ts";
import { seededRandom } from "./transfer-fixture.ts";

const genesis = new Uint8Array(32).fill(1);
const daemonAddress = { url: "" };
const position = { daemon: daemonAddress, network: "regtest", own: [] } as const;
const task: ScanTask = { ...position, history: [genesis], height: 1, startHeight: 0, fromHeight: 0 };

function blocksFrom(fromHeight: number, count = 1): ScannedBlocks {
  const idsOf = Array.from({ length: count }, (_, i) => new Uint8Array(32).fill(fromHeight + i));
  const change: BlocksChange = {
    ...{ kind: "blocks", fromHeight, count, ids: idsOf, lastBlockReward: 1n, transactions: [] },
  };
  return new ScannedBlocks(change, 100);
}

/** A wallet's part of a scan thread; `follow`: what the node's blocks are to its scans. */
function world(follow: (follower: Follower) => Promise<void> = async () => undefined) {
  const { daemon, asked } = createNode();
  const sent: FromWorker[] = [];
  const feed = {
    users: 0,
    follow,
    look: async (looker: Looker) => (await lookTogether(daemon, [looker]))[0]!(),
  };
  const feeds = {
    poolNumbers: new PoolNumbers(),
    take: () => {
      feed.users += 1;
      return feed;
    },
    giveBack: () => {
      feed.users -= 1;
    },
    endOf: (id: number, pool: PoolSnapshot): FromWorker => ({ kind: "done", id, pool }),
  };
  const scan = new WalletScan((message) => sent.push(message), feeds as unknown as NodeFeeds);
  const keys = createKeys(seededRandom("scan of one"));
  const open = async (parts: Partial<Extract<ToWorker, { kind: "open" }>> = {}) => {
    const lookahead = { accounts: 1, addresses: 1 };
    const imageFactors = new KeyHashes(randomFillSync).factors;
    const rest = { used: [{ major: 0, minor: 0 }], lookahead, marks: undefined, ranges: [] };
    scan.receive({ kind: "open", keys, ...rest, skipsCoinbase: false, imageFactors, ...parts });
    await answerTo(0);
    return sent.splice(0);
  };
  const answerTo = async (id: number) => {
    for (;;) {
      const isIt = (message: FromWorker) =>
        (message.kind === "done" || message.kind === "failed") && message.id === id;
      const at = sent.findIndex(isIt);
      if (at !== -1) return sent.splice(at, 1)[0] as Extract<FromWorker, { kind: "done" | "failed" }>;
      await setImmediate();
    }
  };
  const poolOf = async (id: number) => {
    scan.receive({ kind: "pool", id, ...position });
    const answer = await answerTo(id);
    assert.ok(answer.kind === "done");
    return answer.pool!;
  };
  return { scan, sent, feed, keys, open, answerTo, poolOf, asked };
}

test("key images from elsewhere have the pool looked through once more", async () => {
  for (const isHashed of [false, true]) {
    const { scan, open, poolOf, asked } = world();
    const imageFactors = new KeyHashes(randomFillSync).factors;
    await open({ imageFactors });
    assert.deepEqual((await poolOf(1)).finds, []);
    assert.equal(asked.length, ids.length);
    const image = fromHex(imageOf(1));
    const hashes = isHashed ? [KeyHashes.of(imageFactors).all(image)] : [];
    scan.receive({ kind: "learn", keyImages: isHashed ? [] : [image], hashes });
    const { finds } = await poolOf(2);
    assert.deepEqual(
      finds.map(({ transaction }) => toHex(transaction.txHash)),
      [ids[1]],
    );
    assert.equal(asked.length, 2 * ids.length);
  }
});

test("what is asked before a wallet is there fails", async () => {
  const { scan, answerTo } = world();
  const messages: ToWorker[] = [
    { kind: "pool", id: 1, ...position },
    { kind: "scan", id: 2, task, threads: 1 },
    { kind: "single", id: 3, entries: [] },
  ];
  for (const message of messages) {
    scan.receive(message);
    const answer = await answerTo((message as { id: number }).id);
    assert.ok(answer.kind === "failed");
    assert.match(answer.message, new RegExp(`^${message.kind} before open$`));
    assert.equal(answer.refusal, undefined);
  }
});

test("many addresses are computed a thousand at a time, and more as they come into use", async () => {
  const { scan, open, answerTo, sent } = world();
  const ranges = (messages: readonly FromWorker[]) =>
    messages.flatMap((message) => {
      if (message.kind !== "range") return [];
      const { major, fromMinor, count } = message.range;
      return [[major, fromMinor, count]];
    });
  assert.deepEqual(ranges(await open({ lookahead: { accounts: 1, addresses: 2500 } })), [
    [0, 0, 1000],
    [0, 1000, 1000],
    [0, 2000, 500],
  ]);
  scan.receive({ kind: "cover", id: 1, index: { major: 0, minor: 10 } });
  await answerTo(1);
  assert.deepEqual(ranges(sent.splice(0)), [[0, 2500, 10]]);
  scan.receive({
    kind: "cover",
    id: 2,
    index: { major: 0, minor: 0 },
    lookahead: { accounts: 1, addresses: 2520 },
  });
  await answerTo(2);
  assert.deepEqual(ranges(sent.splice(0)), [[0, 2510, 10]]);
});

test("a scan waits while two batches are not written, and ends once all are", async () => {
  const steps: string[] = [];
  const { scan, open, answerTo, sent } = world(async (follower) => {
    for (const height of [1, 2, 3]) {
      const ready = follower.whenReady();
      steps.push(`${height} ${ready === undefined ? "at once" : "later"}`);
      await ready;
      follower.take(blocksFrom(height));
      assert.equal(follower.task.height, height + 1);
    }
  });
  await open();
  scan.receive({ kind: "scan", id: 1, task, threads: 1 });
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  assert.deepEqual(steps, ["1 at once", "2 at once", "3 later"]);
  assert.equal(sent.length, 2);
  scan.receive({ kind: "kept" });
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  assert.deepEqual(
    sent.map(({ kind }) => kind),
    ["blocks", "blocks", "blocks"],
  );
  for (let kept = 0; kept < 2; kept++) scan.receive({ kind: "kept" });
  const answer = await answerTo(1);
  assert.ok(answer.kind === "done" && answer.pool !== undefined);
  assert.equal(answer.pool.ids.length, 32 * ids.length);
});

test("a part of a block is no place from which a scan goes on", async () => {
  const heights: number[] = [];
  const { scan, open, answerTo } = world(async (follower) => {
    for (const blocks of [blocksFrom(1, 4), blocksFrom(5, 0)]) {
      follower.take(blocks);
      heights.push(follower.task.height);
      scan.receive({ kind: "kept" });
    }
    assert.deepEqual(follower.task.history.at(-1), genesis);
    assert.deepEqual(follower.task.history[0], new Uint8Array(32).fill(4));
  });
  await open();
  scan.receive({ kind: "scan", id: 1, task: { ...task, startHeight: 3 }, threads: 1 });
  await answerTo(1);
  assert.deepEqual(heights, [5, 5]);
});

test("a scan that is cancelled ends without a pool, whatever is not written yet", async () => {
  const { scan, open, answerTo, poolOf } = world(async (follower) => {
    follower.take(blocksFrom(1));
    follower.take(blocksFrom(2));
    await follower.whenReady();
    assert.equal(follower.isGone, true);
  });
  await open();
  scan.receive({ kind: "scan", id: 1, task, threads: 1 });
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  scan.receive({ kind: "cancel" });
  assert.deepEqual(await answerTo(1), { kind: "done", id: 1, pool: undefined });
  assert.equal((await poolOf(2)).ids.length, 32 * ids.length, "it is still open");
});

test("only with several threads do others sift, and a wallet that is closed hears no result", async () => {
  const threads: unknown[] = [];
  let results: Promise<unknown> = Promise.resolve();
  const { scan, open, answerTo, sent, feed, keys } = world(async (follower) => {
    threads.push(follower.threads?.count);
    const packed = { forms: new Uint8Array(), lengths: new Uint32Array(), bytes: new Uint8Array() } as never;
    if (follower.threads !== undefined) results = follower.threads.sift(packed, new Uint8Array(32));
  });
  await open();
  scan.receive({ kind: "scan", id: 1, task, threads: 1 });
  await answerTo(1);
  scan.receive({ kind: "scan", id: 2, task, threads: 2 });
  await answerTo(2);
  const [{ id }] = sent as [Extract<FromWorker, { kind: "sift" }>];
  scan.receive({ kind: "sifted", id, results: ["a result"] as never });
  assert.deepEqual(await results, ["a result"]);
  scan.receive({ kind: "scan", id: 3, task, threads: 2 });
  await answerTo(3);
  assert.deepEqual(threads, [undefined, 2, 2]);
  assert.deepEqual([feed.users, sent.length], [1, 2]);
  scan.receive({ kind: "close" });
  assert.equal(await results, undefined);
  assert.deepEqual([feed.users, sent.at(-1)], [0, { kind: "closed" }]);
  assert.deepEqual([keys.spendSecret, keys.viewSecret], [new Uint8Array(32), new Uint8Array(32)]);
});

test("errors of the node, of its bytes and of the program are told apart", async () => {
  const errors = [
    new WalletRefusal("NO_DAEMON_CONNECTION", "away"),
    new BadBytes("cut off"),
    new Error("a fault"),
  ];
  const told = [];
  for (const error of errors) {
    const { scan, open, answerTo } = world(() => Promise.reject(error));
    await open();
    scan.receive({ kind: "scan", id: 1, task, threads: 1 });
    const answer = await answerTo(1);
    told.push(answer.kind === "failed" && [answer.refusal, answer.message]);
  }
  assert.deepEqual(told, [
    ["NO_DAEMON_CONNECTION", "away"],
    ["UNKNOWN_ERROR", "the node answered with bytes that can't be read: cut off"],
    [undefined, "a fault"],
  ]);
});
