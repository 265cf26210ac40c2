import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toHex } from "@anulo/protocol";
import type { Daemon } from "../src/daemon.ts";
import { encodeChange } from "../src/encode-change.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { BlockWalk } from "../src/scan/block-walk.ts";
import { createForkCheck } from "../src/scan/check-forks.ts";
import type { Follower, SiftThreads } from "../src/scan/followers.ts";
import type { PackedTransactions } from "../src/scan/raw-transaction.ts";
import type { ScanKeys } from "../src/scan/scan-transaction.ts";
import type { Sifted } from "../src/scan/sift.ts";
import { WorkThreads } from "../src/threads/work-threads.ts";
import { BLOCKS_PER_ANSWER, createContext, daemonOf, honest } from "./made-chain.ts";
import { seededRandom } from "./transfer-fixture.ts";

type Scanned = {
  readonly changes: string[];
  readonly found: number;
  readonly spent: number;
  readonly error: string;
};

/** A wallet that notes its changes in the bytes of the journal. */
function followerWith(keys?: ScanKeys, threads?: SiftThreads) {
  const changes: string[] = [];
  const counts = { found: 0, spent: 0 };
  const follower: Follower = {
    context: createContext(keys),
    task: { history: [honest[0]!.id], height: 1, startHeight: 0, fromHeight: 0 },
    threads,
    isGone: false,
    whenReady: () => undefined,
    take: ({ change }) => {
      changes.push(toHex(encodeChange(change)));
      counts.found += change.transactions.filter(({ received }) => received.length > 0).length;
      counts.spent += change.transactions.filter(({ received }) => received.length === 0).length;
    },
  };
  return { follower, changes, counts };
}

/** The changes of a scan, and the error it ended with. */
async function scan(daemon: Daemon, threads?: SiftThreads): Promise<Scanned> {
  const { follower, changes, counts } = followerWith(undefined, threads);
  let error = "";
  try {
    await new Promise<unknown>((end, fail) => {
      const source = { daemon, checkForks: createForkCheck("regtest", daemon) };
      void new BlockWalk(source, { follower, end, fail }).run();
    });
  } catch (thrown) {
    error = String(thrown);
  }
  return { changes, ...counts, error };
}

/** The changes of wallets that scan together, a list each; the last owns what the chain pays. */
async function scanTogether(count: number, threads?: SiftThreads): Promise<string[][]> {
  const daemon = daemonOf(honest);
  const all = Array.from({ length: count }, (_, i) =>
    followerWith(i + 1 < count ? createKeys(seededRandom(`wallet ${i}`)) : undefined, threads),
  );
  const source = { daemon, checkForks: createForkCheck("regtest", daemon) };
  let walk: BlockWalk | undefined;
  const ends = all.map(
    ({ follower }) =>
      new Promise<unknown>((end, fail) => {
        const rider = { follower, end, fail };
        if (walk === undefined) walk = new BlockWalk(source, rider);
        else assert.ok(walk.join(rider, false));
      }),
  );
  await walk!.run();
  assert.deepEqual(new Set(await Promise.all(ends)), new Set(["done"]));
  return all.map(({ changes }) => changes);
}

/** Threads that answer newest first: all that is asked of them at a time, in reverse. */
function threadsInReverse(count: number) {
  const work = new WorkThreads();
  work.most = count;
  let asked: (() => Promise<void>)[] = [];
  let pieces = 0;
  const walletsInJobs = new Set<number>();
  const answerAll = async () => {
    const now = asked.reverse();
    asked = [];
    for (const answer of now) await answer();
  };
  const sift = (transactions: PackedTransactions, viewSecrets: Uint8Array<ArrayBuffer>) =>
    new Promise<readonly Sifted[] | undefined>((resolve) => {
      pieces += 1;
      walletsInJobs.add(viewSecrets.length / 32);
      if (asked.length === 0) setImmediate(() => void answerAll());
      const input = { viewSecrets, transactions };
      asked.push(() =>
        work
          .runLast("sift", input, [viewSecrets.buffer])
          .catch(() => undefined)
          .then(resolve),
      );
    });
  return {
    count,
    sift,
    pieces: () => pieces,
    get walletsInJobs() {
      return [...walletsInJobs];
    },
  };
}

describe("wallets that scan together", () => {
  it("end elsewhere if the block with which the node begins is none they know", async () => {
    const daemon = daemonOf(honest);
    const source = { daemon, checkForks: createForkCheck("regtest", daemon) };
    const undone = new Uint8Array(32).fill(1);
    const history = [undone, honest[0]!.id];
    const riderWith = (own: readonly Uint8Array[], end: (reason: unknown) => void) => {
      const { follower } = followerWith();
      const task = { ...follower.task, history: own, height: 2 };
      return { follower: { ...follower, task }, end, fail: () => assert.fail() };
    };
    const walk = new BlockWalk(
      source,
      riderWith(history, () => {}),
    );
    const ends = [history, [...history], [undone, new Uint8Array(32).fill(2)]].map(
      (own) => new Promise<unknown>((end) => assert.ok(walk.join(riderWith(own, end), false))),
    );
    await walk.run();
    assert.deepEqual(await Promise.all(ends), ["done", "done", "elsewhere"]);
  });
});

describe("a scan on several threads", () => {
  it("finds byte for byte what one finds, though each address is known by the payment before", async () => {
    const alone = await scan(daemonOf(honest));
    assert.deepEqual([alone.found, alone.spent, alone.error], [99, 99, ""]);
    for (const count of [2, 3]) {
      const threads = threadsInReverse(count);
      assert.deepEqual(await scan(daemonOf(honest), threads), alone);
      assert.equal(threads.pieces(), alone.changes.length);
    }
  });

  it("finds the same for many wallets at once, some in each job", async () => {
    const alone = await scanTogether(40);
    assert.deepEqual(alone.at(-1), (await scan(daemonOf(honest))).changes);
    const threads = threadsInReverse(2);
    assert.deepEqual(await scanTogether(40, threads), alone);
    assert.deepEqual(threads.walletsInJobs, [32, 8]);
    assert.equal(threads.pieces(), 2 * alone[0]!.length);
  });

  it("leaves the wallets to their scan thread if there are more than a thread is given", async () => {
    const threads = threadsInReverse(2);
    await scanTogether(129, threads);
    assert.equal(threads.pieces(), 0);
  });

  it("keeps what came before bytes that can't be read, and tells the same of them", async () => {
    const bad = daemonOf(
      honest.map((entry, height) =>
        height < 600 || entry.blobs.length === 0 ? entry : { ...entry, blobs: [Uint8Array.of(1, 2, 3)] },
      ),
    );
    const alone = await scan(bad);
    assert.match(alone.error, /BadBytes/);
    assert.equal(alone.changes.length, 2);
    assert.deepEqual(await scan(bad, threadsInReverse(2)), alone);
  });

  it("keeps what came before a node fell silent", async () => {
    const silent = daemonOf(honest, { silentFrom: BLOCKS_PER_ANSWER });
    const alone = await scan(silent);
    assert.match(alone.error, /silent/);
    assert.equal(alone.changes.length, 2);
    assert.deepEqual(await scan(silent, threadsInReverse(2)), alone);
  });

  it("does itself what no thread can", async () => {
    const threads = { count: 2, sift: async () => undefined };
    assert.deepEqual(await scan(daemonOf(honest), threads), await scan(daemonOf(honest)));
  });

  it("leaves a short one to the thread it has", async () => {
    const threads = threadsInReverse(2);
    await scan(daemonOf(honest.slice(0, BLOCKS_PER_ANSWER)), threads);
    assert.equal(threads.pieces(), 0);
  });
});
