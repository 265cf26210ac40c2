/** Changes that come while a transaction is under way share the next one, as far as they fit into it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { GroupCommit, type Outcome, type Waiting } from "../src/group-commit.ts";
import { type Change, ChangeTooLarge, StoreUnavailable } from "../src/index.ts";
import { bytes, walletId } from "./harness.ts";

const MIB = 1024 * 1024;
const wallet = walletId(1);

/** A change of so many rows, each of so many bytes with its key. */
function changeOf(rows: number, rowBytes = 2): Change {
  const row = { table: 1, key: bytes("k"), value: new Uint8Array(rowBytes - 1) };
  return { epoch: 1, puts: Array.from({ length: rows }, () => row), deletes: [] };
}

/** Commits each group in a later turn, and notes which there were; `outcomeOf` says what becomes of a change. */
function start(outcomeOf: (each: Waiting) => Outcome = ({ change }) => change.puts.length) {
  const groups: Change[][] = [];
  let underWay = 0;
  const commits = new GroupCommit(async (group) => {
    assert.equal(underWay++, 0);
    groups.push(group.map(({ change }) => change));
    await new Promise((resolve) => setImmediate(resolve));
    underWay--;
    return group.map(outcomeOf);
  });
  return { groups, submit: (change: Change) => commits.submit(wallet, change), commits };
}

const settled = async (results: readonly Promise<number>[]) =>
  (await Promise.allSettled(results)).map((result) =>
    result.status === "fulfilled" ? result.value : (result.reason as Error).message,
  );

test("changes of one turn share a transaction, and those that come meanwhile the next, each with its outcome", async () => {
  const { groups, submit } = start(({ change }) =>
    change.puts.length === 2 ? new Error("refused") : change.puts.length,
  );
  const first = [1, 2].map((rows) => submit(changeOf(rows)));
  await new Promise((resolve) => process.nextTick(resolve));
  const next = [3, 4].map((rows) => submit(changeOf(rows)));
  assert.deepEqual(await settled([...first, ...next]), [1, "refused", 3, 4]);
  assert.deepEqual(
    groups.map((group) => group.map(({ puts }) => puts.length)),
    [
      [1, 2],
      [3, 4],
    ],
  );
  assert.equal(await submit(changeOf(5)), 5);
});

test("a transaction that fails fails its changes, and no others", async () => {
  let isAway = true;
  const commits = new GroupCommit(async (group) => {
    await new Promise((resolve) => setImmediate(resolve));
    if (isAway) throw new Error("away");
    return group.map(() => 7);
  });
  const first = [1, 2].map((rows) => commits.submit(wallet, changeOf(rows)));
  assert.deepEqual(await settled(first), ["away", "away"]);
  isAway = false;
  assert.equal(await commits.submit(wallet, changeOf(1)), 7);
});

test("a transaction has no more rows and bytes than one change may have", async () => {
  const { groups, submit } = start();
  await settled([changeOf(4096), changeOf(4096), changeOf(1)].map(submit));
  const deletes = [{ table: 1, key: bytes("k") }];
  await settled([changeOf(4096), { ...changeOf(4096), deletes }].map(submit));
  await settled([changeOf(2, 4 * MIB), changeOf(2, 4 * MIB), changeOf(1)].map(submit));
  assert.deepEqual(
    groups.map((group) => group.map(({ puts }) => puts.length)),
    [[4096, 4096], [1], [4096], [4096], [2, 2], [1]],
  );
});

test("a change that is too large, or of no owner, is refused alone", async () => {
  const { groups, submit } = start();
  const results = [
    submit(changeOf(8193)),
    submit({ ...changeOf(8192), deletes: [{ table: 1, key: bytes("k") }] }),
    submit(changeOf(1, 4 * MIB + 2)),
    submit({ ...changeOf(4, 4 * MIB), deletes: [{ table: 1, key: bytes("k") }] }),
  ];
  for (const result of results) await assert.rejects(result, ChangeTooLarge);
  for (const epoch of [0, 1.5, -1]) await assert.rejects(submit({ ...changeOf(1), epoch }), RangeError);
  await assert.rejects(submit({ ...changeOf(0), deletes: [{ table: 1, key: bytes("") }] }), RangeError);
  assert.deepEqual(groups, []);
  assert.equal(await submit(changeOf(8192)), 8192);
  assert.equal(await submit(changeOf(1, 4 * MIB + 1)), 1);
});

test("what was submitted is still committed when it closes, and nothing after", async () => {
  const { groups, submit, commits } = start();
  const result = submit(changeOf(3));
  const closed = commits.close();
  await assert.rejects(submit(changeOf(4)), StoreUnavailable);
  assert.throws(() => commits.checkOpen(), StoreUnavailable);
  await closed;
  assert.equal(groups.length, 1);
  assert.equal(await result, 3);
  await commits.close();
});
