/** How widely a waiting transaction is relayed, and when it becomes public. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { toHex } from "@anulo/protocol";
import type { PoolTransaction, RelayPhase } from "@anulo/storage";
import type { ChainEvent } from "../src/chain/events.ts";
import type { OpenChain } from "../src/chain/open-chain.ts";
import type { ChainParts } from "../src/chain/parts.ts";
import { NEVER } from "../src/pool/entry.ts";
import { dropFromPool, release } from "../src/pool/maintain.ts";
import { markRelayed, promote, type RelayedEntry } from "../src/pool/relay-phase.ts";
import { emptyChain } from "./chain-fixture.ts";
import { bytesOf, putWaiting } from "./waiting-rows.ts";

const moment = 5000;
const allPhases: readonly RelayPhase[] = ["local", "forward", "stem", "fluff"];
const keyOf = (number: number) => toHex(bytesOf(number));

let chain: OpenChain;
let parts: ChainParts;
const events: ChainEvent[] = [];

before(async () => {
  chain = await emptyChain();
  parts = { ...chain.parts, now: () => moment, emit: (event) => void events.push(event) };
});

after(() => chain.close());

beforeEach(async () => {
  await dropFromPool(
    parts,
    parts.pool.entries().map(({ key }) => key),
  );
  events.length = 0;
});

/** The numbers of the transactions that became public since the test began, event by event. */
const madePublic = () =>
  events.map((event) => {
    assert.equal(event.type, "transactionsPublic");
    return "ids" in event ? event.ids.map((id) => Buffer.from(id).readUInt32LE(28)) : [];
  });

const rowOf = (number: number) => parts.pool.get(keyOf(number))!.row;

/** The phase of a transaction that arrives again in `coming`; "as it was" where nothing changes. */
function phaseAfter(row: Partial<PoolTransaction>, coming?: RelayPhase): string {
  putWaiting(parts, new Map([[1, row]]));
  const { cookie } = parts.pool;
  const options = coming === undefined ? {} : { phase: coming };
  const isChanged = promote(parts, parts.pool.get(keyOf(1))!, options);
  assert.equal(parts.pool.cookie !== cookie, isChanged);
  const { phase } = rowOf(1);
  assert.equal(isChanged || phase === row.phase, true);
  return isChanged ? phase : "as it was";
}

for (const [phase, expected] of [
  ["local", ["as it was", "forward", "stem", "fluff"]],
  ["forward", ["as it was", "as it was", "stem", "fluff"]],
  // What comes back by stem has gone in a circle.
  ["stem", ["as it was", "as it was", "fluff", "fluff"]],
  ["fluff", ["as it was", "as it was", "as it was", "as it was"]],
] as const)
  test(`a transaction of phase ${phase} that arrives again is only relayed more widely`, () => {
    for (const [i, coming] of allPhases.entries()) {
      events.length = 0;
      assert.equal(phaseAfter({ phase }, coming), expected[i], coming);
      assert.deepEqual(madePublic(), expected[i] === "fluff" ? [[1]] : []);
    }
    assert.equal(phaseAfter({ phase }), "as it was", "what its owner sends again");
  });

test("what was in a block, or nobody wants relayed, stays as it is when it arrives again", () => {
  for (const phase of ["local", "stem"] as const)
    for (const row of [{ keptByBlock: true }, { doNotRelay: true }])
      assert.equal(phaseAfter({ ...row, phase }, "fluff"), "as it was");
  assert.deepEqual(events, []);
});

test("what arrives again counts as received now, and waits until it is to be relayed", () => {
  phaseAfter({ phase: "local", relayed: false }, "stem");
  const { receiveTime, relayed, lastRelayedTime } = rowOf(1);
  assert.deepEqual([receiveTime, relayed, lastRelayedTime], [moment, true, NEVER]);
  promote(parts, parts.pool.get(keyOf(1))!, { phase: "fluff", relayAt: 5300 });
  assert.equal(rowOf(1).lastRelayedTime, 5300n);
});

/** Marks transactions as relayed in a phase; what they are afterwards. */
async function relayed(rows: readonly Partial<PoolTransaction>[], phase: RelayPhase, embargoEnd?: number) {
  putWaiting(parts, new Map(rows.map((row, i) => [i, row])));
  const entries: RelayedEntry[] = rows.map((_, i) => ({ key: keyOf(i), embargoEnd }));
  await markRelayed(parts, [{ key: keyOf(900) }, ...entries], phase);
  return rows.map((_, i) => rowOf(i));
}

test("what was relayed is in the later of both phases", async () => {
  for (const [i, phase] of allPhases.entries()) {
    const rows = await relayed(
      allPhases.map((before) => ({ phase: before })),
      phase,
    );
    assert.deepEqual(
      rows.map((row) => row.phase),
      allPhases.map((_, before) => allPhases[Math.max(i, before)]),
    );
    await dropFromPool(
      parts,
      rows.map((_, number) => keyOf(number)),
    );
  }
});

test("those that become public by being relayed are told of together, others not again", async () => {
  const rows: Partial<PoolTransaction>[] = [
    { phase: "stem" },
    { phase: "fluff" },
    { phase: "stem", keptByBlock: true },
    { phase: "local" },
    { phase: "fluff", doNotRelay: true },
  ];
  await relayed(rows, "fluff");
  assert.deepEqual(madePublic(), [[0, 3, 4]]);
  await relayed([{ phase: "stem" }], "fluff");
  assert.deepEqual(madePublic().slice(1), [[0]]);
});

test("what is relayed by stem is not public, so that nothing is told", async () => {
  await relayed([{ phase: "local" }, { phase: "forward" }], "stem");
  assert.deepEqual(events, []);
});

test("what was relayed is marked so, for good", async () => {
  const [row] = await relayed([{ phase: "local", relayed: false, doNotRelay: true }], "stem");
  assert.deepEqual([row!.relayed, row!.doNotRelay], [true, false]);
});

test("only one that goes on by stem waits for its embargo", async () => {
  const [local, ended, kept] = await relayed(
    [{ phase: "local" }, { phase: "fluff" }, { phase: "local", keptByBlock: true }],
    "stem",
    5077,
  );
  assert.equal(local!.lastRelayedTime, 5077n);
  assert.deepEqual([ended!.lastRelayedTime, kept!.lastRelayedTime], [5000n, 5000n]);
  const [without] = await relayed([{ phase: "local" }], "stem");
  assert.equal(without!.lastRelayedTime, 5000n);
});

test("nothing is written for transactions that have left the pool", async () => {
  let writes = 0;
  const { store } = parts;
  const write: typeof store.write = (change) => {
    writes++;
    return store.write(change);
  };
  await markRelayed({ ...parts, store: { ...store, write } }, [{ key: keyOf(900) }], "fluff");
  assert.deepEqual([writes, events], [0, []]);
});

test("what is released is relayed as if it were submitted now; one that was not kept stays as it is", async () => {
  putWaiting(parts, new Map([[1, { doNotRelay: true, phase: "fluff" }]]));
  putWaiting(parts, new Map([[2, { phase: "stem" }]]));
  for (const number of [1, 2, 900]) await release(parts, keyOf(number));
  assert.deepEqual([rowOf(1).doNotRelay, rowOf(1).phase, rowOf(2).phase], [false, "local", "stem"]);
  assert.deepEqual(
    events,
    [1, 2].map((number) => ({ type: "transactionReleased", id: bytesOf(number) })),
  );
});
