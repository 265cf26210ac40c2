import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { RecentBlocks, SharedBlockIds } from "../src/packed/block-ids.ts";
import { shortHistory } from "../src/scan/history.ts";

/** The id of a block: different on each branch. */
const idOf = (branch: number, height: number): Uint8Array =>
  new Uint8Array(createHash("sha256").update(`${branch} ${height}`).digest());

const idsOf = (branch: number, from: number, to: number): Uint8Array[] =>
  Array.from({ length: to - from }, (_, i) => idOf(branch, from + i));

const packed = (ids: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(ids));

/** Numbers below a limit, the same at each run. */
function dice(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** A wallet's ids, and the same as a plain list. */
class ComparedIds {
  readonly recent: RecentBlocks;
  offset: number;
  ids: Uint8Array[] = [];

  constructor(offset: number, shared: SharedBlockIds) {
    this.recent = new RecentBlocks(offset, shared);
    this.offset = offset;
  }

  append(ids: readonly Uint8Array[]): void {
    this.recent.append(packed(ids));
    this.ids.push(...ids);
  }

  truncate(height: number): void {
    this.recent.truncate(height);
    if (height <= this.offset) [this.offset, this.ids] = [Math.max(1, height), []];
    else this.ids = this.ids.slice(0, height - this.offset);
  }

  keepNewest(count: number): void {
    this.recent.keepNewest(count);
    const excess = Math.max(0, this.ids.length - count);
    [this.offset, this.ids] = [this.offset + excess, this.ids.slice(excess)];
  }

  check(): void {
    const { recent, offset, ids } = this;
    const end = offset + ids.length;
    assert.deepEqual([recent.offset, recent.end, recent.length], [offset, end, ids.length]);
    assert.deepEqual(recent.slice(), ids);
    assert.deepEqual(recent.last, ids.at(-1));
    const [from, to] = [end - Math.floor(ids.length / 3), end + 5];
    assert.deepEqual(new Uint8Array(recent.bytes(from, to)), packed(ids.slice(from - offset)));
    for (const height of [offset - 1, offset, end - 1, end])
      assert.equal(recent.has(height, idOf(0, height)), ids[height - offset]?.[0] === idOf(0, height)[0]);
  }
}

test("each wallet has the ids that it has seen, whatever others that share their memory do", () => {
  const random = dice(7);
  const shared = new SharedBlockIds();
  const wallets = Array.from({ length: 8 }, (_, i) => new ComparedIds(1 + 150 * (i % 4), shared));
  for (let step = 0; step < 600; step++) {
    const wallet = wallets[random(wallets.length)]!;
    const end = wallet.offset + wallet.ids.length;
    const what = random(10);
    // Branches leave the main one anywhere: what decides is the ids alone.
    const branch = random(4) === 0 ? 1 + random(2) : 0;
    if (what < 7) wallet.append(idsOf(branch, end, end + 1 + random(random(3) === 0 ? 400 : 5)));
    else if (what < 9) wallet.truncate(end - random(random(3) === 0 ? 500 : 12));
    else wallet.keepNewest(1 + random(700));
    wallet.check();
    if (step % 20 === 0) for (const other of wallets) other.check();
  }
  for (const { recent } of wallets) {
    const copy = recent.copy();
    const before = recent.slice();
    copy.truncate(copy.end - 1);
    copy.append(packed([idOf(9, copy.end)]));
    assert.deepEqual(recent.slice(), before);
    recent.share(new SharedBlockIds());
    assert.deepEqual(recent.slice(), before);
  }
});

test("wallets of one chain share all of it, those on another branch what is below", () => {
  const shared = new SharedBlockIds();
  const ledgers = Array.from({ length: 20 }, () => {
    const ledger = createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
    ledger.state.recent.share(shared);
    return ledger;
  });
  const scan = (ledger: (typeof ledgers)[number], branch: number, from: number, to: number) =>
    applyChange(ledger, {
      kind: "blocks",
      fromHeight: from,
      count: to - from,
      ids: idsOf(branch, from, to),
      lastBlockReward: 0n,
      transactions: [],
    });
  for (const [i, ledger] of ledgers.entries()) {
    // Some come from a store with the newest blocks first, others block by block.
    if (i % 2 === 0) scan(ledger, 0, 1, 1000);
    else for (let height = 1; height < 1000; height += 9) scan(ledger, 0, height, Math.min(height + 9, 1000));
  }
  const [ahead, behind, elsewhere] = [ledgers[0]!, ledgers[1]!, ledgers[2]!];
  assert.equal(shared.runs, 4);
  scan(ahead, 0, 1000, 1010);
  scan(elsewhere, 3, 990, 1012);
  assert.equal(shared.runs, 5, "only the last 256 heights twice");
  assert.deepEqual(ahead.state.recent.slice(), idsOf(0, 1, 1010));
  assert.deepEqual(behind.state.recent.slice(), idsOf(0, 1, 1000));
  assert.deepEqual(elsewhere.state.recent.slice(), [...idsOf(0, 1, 990), ...idsOf(3, 990, 1012)]);
  // All others follow the branch.
  for (const ledger of ledgers) if (ledger !== elsewhere) scan(ledger, 3, 990, 1012);
  for (const { state } of ledgers) assert.deepEqual(state.recent.slice(), elsewhere.state.recent.slice());
  assert.ok(shared.runs <= 5);
});

test("a wallet that begins lower adds to what others have", () => {
  const shared = new SharedBlockIds();
  const [late, early] = [new RecentBlocks(700, shared), new RecentBlocks(600, shared)];
  late.append(packed(idsOf(0, 700, 760)));
  early.append(packed(idsOf(0, 600, 760)));
  assert.equal(shared.runs, 1);
  assert.deepEqual([late.slice(), early.slice()], [idsOf(0, 700, 760), idsOf(0, 600, 760)]);
});

test("the short history is one object for wallets with the same ids", () => {
  const shared = new SharedBlockIds();
  const genesis = idOf(0, 0);
  const [a, b] = [new RecentBlocks(1, shared), new RecentBlocks(1, shared)];
  for (const recent of [a, b]) recent.append(packed(idsOf(0, 1, 301)));
  assert.equal(shortHistory(a, genesis), shortHistory(b, idOf(0, 0)));
  const heights = [300, 299, 298, 297, 296, 295, 294, 293, 292, 291, 289, 285, 277, 261, 229, 165, 37, 0];
  assert.deepEqual(
    shortHistory(a, genesis),
    heights.map((height) => idOf(0, height)),
  );
  b.append(packed(idsOf(0, 301, 302)));
  assert.deepEqual(shortHistory(b, genesis)[0], idOf(0, 301));
  assert.deepEqual(shortHistory(a, genesis)[0], idOf(0, 300));
  assert.deepEqual(shortHistory(a, idOf(1, 0)).at(-1), idOf(1, 0), "of another chain");
  assert.deepEqual(shortHistory(new RecentBlocks(), genesis), [genesis]);
});

test("what is no list of ids is refused", () => {
  const id = idOf(0, 1);
  for (const wrong of [
    { offset: -1, ids: [id] },
    { offset: 1.5, ids: [id] },
    { offset: 1, ids: [id.slice(1)] },
    { offset: 1, ids: [id, "id" as unknown as Uint8Array] },
  ])
    assert.throws(() => RecentBlocks.of(wrong), RangeError);
});
