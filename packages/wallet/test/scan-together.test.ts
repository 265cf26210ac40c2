/** Wallets that scan the same blocks together find what each finds alone. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { blockId, toHex } from "@anulo/protocol";
import type { Daemon } from "../src/daemon.ts";
import { encodeChange } from "../src/encode-change.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { BlockWalk, type Outcome, type Rider } from "../src/scan/block-walk.ts";
import { createForkCheck } from "../src/scan/check-forks.ts";
import { historyOf } from "../src/scan/fetch-blocks.ts";
import type { Follower, SiftThreads } from "../src/scan/followers.ts";
import type { BlocksChange, ScanTask } from "../src/scan/messages.ts";
import { unpackTransactions } from "../src/scan/raw-transaction.ts";
import type { ScanKeys } from "../src/scan/scan-transaction.ts";
import { readKeys, siftKeys } from "../src/scan/sift.ts";
import { BLOCKS, createContext, daemonOf, type Entry, honest, keys, stranger } from "./made-chain.ts";
import { seededRandom } from "./transfer-fixture.ts";

const genesis = honest[0]!.id;
const viewOnly: ScanKeys = { ...keys, spendSecret: undefined };

type Wish = {
  readonly keys?: ScanKeys;
  /** Of the next block: it knows this chain below. */
  readonly height?: number;
  readonly chain?: readonly Entry[];
  readonly fromHeight?: number;
  readonly startHeight?: number;
  readonly skipsCoinbase?: boolean;
  /** Called after each batch with the height of the next block. */
  readonly after?: (height: number, scan: Scan) => void;
};

class Scan implements Follower {
  readonly context: Follower["context"];
  task: Follower["task"];
  isGone = false;
  threads: SiftThreads | undefined;
  /** Resolves once it takes more. */
  slow: Promise<void> | undefined;
  readonly changes: BlocksChange[] = [];
  outcome: Outcome | undefined;
  error = "";
  readonly #after: NonNullable<Wish["after"]>;

  constructor({ height = 1, chain = honest, ...wish }: Wish) {
    this.context = { ...createContext(wish.keys), skipsCoinbase: wish.skipsCoinbase ?? false };
    const ids = chain.slice(1, height).map(({ id }) => id);
    const position: Pick<ScanTask, "startHeight" | "fromHeight"> = {
      startHeight: wish.startHeight ?? 0,
      fromHeight: wish.fromHeight ?? 0,
    };
    this.task = { history: historyOf(ids, genesis), height, ...position };
    this.#after = wish.after ?? (() => undefined);
  }

  whenReady(): Promise<void> | undefined {
    return this.slow;
  }

  take({ change }: { change: BlocksChange }): void {
    this.changes.push(change);
    this.#after(change.fromHeight + change.count, this);
  }

  /** All it was given, however it was cut. */
  get found() {
    const { changes, error } = this;
    const [first, last] = [changes[0], changes.at(-1)];
    const fromHeight = first?.fromHeight ?? 0;
    const end = (last?.fromHeight ?? 0) + (last?.count ?? 0);
    const transactions = changes.flatMap((change) => change.transactions);
    const all = {
      kind: "blocks" as const,
      fromHeight,
      count: end - fromHeight,
      ids: last?.ids.slice(-1) ?? [],
      lastBlockReward: last?.lastBlockReward ?? 0n,
      transactions,
    };
    const received = transactions.filter((each) => each.received.length > 0).length;
    return { bytes: toHex(encodeChange(all)), received, error };
  }
}

function riderOf(scan: Scan): { rider: Rider; ended: Promise<void> } {
  let settle = () => {};
  const ended = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const end = (outcome: Outcome) => {
    scan.outcome = outcome;
    settle();
  };
  const fail = (error: unknown) => {
    scan.error = String(error);
    settle();
  };
  return { rider: { follower: scan, end, fail }, ended };
}

function walkOf(daemon: Daemon, leader: Scan) {
  const { rider, ended } = riderOf(leader);
  const walk = new BlockWalk({ daemon, checkForks: createForkCheck("regtest", daemon) }, rider);
  return { walk, ended };
}

/** All in one walk, from the first one's height on. */
async function together(daemon: Daemon, [leader, ...others]: readonly Scan[]): Promise<void> {
  const { walk, ended } = walkOf(daemon, leader!);
  const rest = others.map((scan) => {
    const { rider, ended: over } = riderOf(scan);
    assert.ok(walk.join(rider, false));
    return over;
  });
  await walk.run();
  await Promise.all([ended, ...rest]);
}

async function alone(daemon: Daemon, wish: Wish) {
  const scan = new Scan({ ...wish, after: () => undefined });
  await together(daemon, [scan]);
  return scan.found;
}

const random = seededRandom("scan together");
const crowd = (count: number): Wish[] => Array.from({ length: count }, () => ({ keys: createKeys(random) }));

/** The same blocks from a height on with other nonces. */
function forkedFrom(height: number): Entry[] {
  const chain = honest.slice(0, height);
  for (const { block, blobs } of honest.slice(height)) {
    const header = { ...block.header, previousId: chain.at(-1)!.id, nonce: block.header.nonce + 1 };
    const other = { ...block, header };
    chain.push({ block: other, id: blockId(other), blobs });
  }
  return chain;
}

test("many find together, byte for byte, what each finds alone; the node is asked once", async () => {
  const wishes: Wish[] = [
    {},
    { keys: stranger },
    { keys: viewOnly },
    { keys: stranger, fromHeight: 300 },
    { keys: stranger, skipsCoinbase: true },
    { keys: stranger, height: 60 },
    { keys: stranger, height: 60, fromHeight: 500 },
    ...crowd(12),
  ];
  const expected = [];
  for (const wish of wishes) expected.push(await alone(daemonOf(honest), wish));
  // Of seven blocks one pays us, six the stranger, whom each of our payments is then sent to.
  assert.deepEqual(expected.map(({ received }) => received).slice(0, 6), [
    99,
    BLOCKS - 1,
    99,
    400,
    99,
    BLOCKS - 60,
  ]);
  const asked: string[] = [];
  const scans = wishes.map((wish) => new Scan(wish));
  await together(daemonOf(honest, { asked }), scans);
  assert.deepEqual(
    scans.map(({ found }) => found),
    expected,
  );
  assert.equal(asked.length, 3);
});

test("a block that a wallet has scanned is not given to it again", async () => {
  const daemon = daemonOf(honest);
  const [leader, same, ahead] = [{ height: 600 }, { height: 600 }, { height: 650 }].map(
    (wish) => new Scan(wish),
  );
  const scans = [leader!, same!, ahead!];
  await together(daemon, scans);
  assert.deepEqual(
    scans.map(({ changes }) => changes[0]?.fromHeight),
    [600, 600, 650],
  );
  const there = new Scan({ height: BLOCKS });
  await together(daemon, [there]);
  assert.deepEqual([there.changes, there.outcome], [[], "done"]);
  // One that is on another branch receives what is above the last block that both have.
  const elsewhere = new Scan({ height: 600, chain: forkedFrom(595) });
  await together(daemon, [elsewhere]);
  assert.deepEqual([elsewhere.changes[0]?.fromHeight, elsewhere.outcome], [594, "done"]);
});

test("a reorganisation is seen by all; whose chain parted lower is left to go by itself", async () => {
  const chain = forkedFrom(650);
  const wishes: Wish[] = [{ height: 655 }, { height: 655, keys: stranger }, { height: 655, keys: viewOnly }];
  const scans = wishes.map((wish) => new Scan(wish));
  const ahead = new Scan({ height: 660 });
  await together(daemonOf(chain), [...scans, ahead]);
  for (const [i, wish] of wishes.entries()) {
    assert.equal(scans[i]!.changes[0]!.fromHeight, 649);
    assert.deepEqual(scans[i]!.found, await alone(daemonOf(chain), wish));
  }
  assert.deepEqual([ahead.outcome, ahead.changes.length], ["elsewhere", 0]);
});

test("one joins in the middle, one leaves there, one is slow: the others go on", async () => {
  const joining = new Scan({ height: 300 });
  const { rider, ended } = riderOf(joining);
  const leaving = new Scan({
    keys: stranger,
    after: (height, scan) => {
      scan.isGone = height > 200;
    },
  });
  let wake = () => {};
  const slow = new Scan({
    keys: viewOnly,
    after: (height, scan) => {
      if (height > 400)
        scan.slow ??= new Promise((resolve) => {
          wake = resolve;
        });
    },
  });
  const leader = new Scan({
    after: (height) => {
      if (height === 250) assert.ok(walk.join(rider));
    },
  });
  const daemon = daemonOf(honest);
  const { walk, ended: ledTo } = walkOf(daemon, leader);
  for (const scan of [leaving, slow]) assert.ok(walk.join(riderOf(scan).rider, false));
  await walk.run();
  await Promise.all([ended, ledTo]);
  wake();
  assert.deepEqual(leader.found, await alone(daemon, {}));
  assert.deepEqual(joining.found, await alone(daemon, { height: 300 }));
  assert.deepEqual([leaving.outcome, leaving.changes.length], ["done", 1]);
  assert.equal(slow.outcome, "late");
  assert.ok(slow.changes.at(-1)!.fromHeight < 600);
});

test("bytes that can't be read end it for all alike, with what came before kept", async () => {
  const bad = honest.map((entry, height) =>
    height < 400 || entry.blobs.length === 0 ? entry : { ...entry, blobs: [Uint8Array.of(1, 2, 3)] },
  );
  const wishes: Wish[] = [{}, { keys: viewOnly }, ...crowd(11)];
  const scans = wishes.map((wish) => new Scan(wish));
  await together(daemonOf(bad), scans);
  for (const [i, wish] of wishes.entries()) {
    const { found } = scans[i]!;
    assert.match(found.error, /BadBytes/);
    assert.deepEqual(found, await alone(daemonOf(bad), wish));
  }
});

test("a wallet that fails is alone with it", async () => {
  const broken = new Scan({
    after: () => {
      throw new Error("broken");
    },
  });
  const well = new Scan({ keys: viewOnly });
  await together(daemonOf(honest), [broken, well]);
  assert.match(broken.error, /broken/);
  assert.deepEqual(well.found, await alone(daemonOf(honest), { keys: viewOnly }));
});

test("a transaction without all of its output indices ends it for all alike, whoever sifted it", async () => {
  const node = daemonOf(honest);
  const short = async (request: Parameters<Daemon["getBlocks"]>[0]) => {
    const answer = await node.getBlocks(request);
    for (const { indices } of answer.output_indices) for (const each of indices.slice(1)) each.indices.pop();
    return answer;
  };
  const daemon: Daemon = Object.assign(Object.create(node), { getBlocks: short });
  const scans = [{}, { keys: viewOnly }].map((wish) => new Scan(wish));
  await together(daemon, scans);
  for (const { error } of scans) assert.match(error, /without all of its output indices/);
  const third = new Scan({});
  const sift: SiftThreads["sift"] = async (packed, secrets) =>
    siftKeys(secrets, readKeys(unpackTransactions(packed)));
  third.threads = { count: 2, sift };
  await together(daemon, [third]);
  assert.match(third.error, /without all of its output indices/);
});
