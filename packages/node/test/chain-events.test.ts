/** Who is told of what happens to the chain: listeners, the log, and what counts it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Logger, silent } from "@anulo/rpc";
import { type ChainEvent, createEvents } from "../src/chain/events.ts";
import type { OpenChain } from "../src/chain/open-chain.ts";
import { logChain } from "../src/log-events.ts";
import { createNodeMonitor, type Watched } from "../src/monitor/monitor.ts";

const id = (fill: number) => new Uint8Array(32).fill(fill);

const happened: readonly ChainEvent[] = [
  { type: "blockAdded", height: 5, id: id(1) },
  { type: "alternativeBlock", height: 4, id: id(2) },
  { type: "reorganised", forkHeight: 3, removed: 2, added: 5 },
  { type: "blocksPopped", height: 4, removed: 3 },
];

test("every listener hears every event until it leaves, and what one throws is a bug that the others do not see", () => {
  const bugs: unknown[] = [];
  const heard: string[] = [];
  const events = createEvents((bug) => bugs.push(bug));
  const leave = events.listen(({ type }) => heard.push(`first ${type}`));
  const bug = new Error("a bug");
  events.listen(() => {
    throw bug;
  });
  events.listen(({ type }) => heard.push(`last ${type}`));
  events.emit(happened[0]!);
  leave();
  events.emit(happened[1]!);
  assert.deepEqual(heard, ["first blockAdded", "last blockAdded", "last alternativeBlock"]);
  assert.deepEqual(bugs, [bug, bug]);
});

/** A chain with these events; `rolledBack`: its file was as it was last flushed. */
function chainWith(rolledBack?: boolean) {
  const events = createEvents();
  const recovery = rolledBack === undefined ? undefined : { rolledBack };
  const store = { recovery, read: { height: () => 17 } };
  const parts = { store, state: { view: () => ({ recentTimestamps: () => [] }) } };
  return { events, parts } as unknown as OpenChain;
}

/** Lines of a log, with their levels. */
function linesOf(chain: OpenChain, events: readonly ChainEvent[]) {
  const lines: unknown[] = [];
  const note = (level: string) => (text: string, fields?: object) => lines.push([level, text, fields]);
  const log: Logger = { ...silent, warn: note("warn"), debug: note("debug"), in: () => log };
  logChain(chain, log);
  for (const event of events) chain.events.emit(event);
  return lines;
}

test("a reorganisation is a warning, what else happens a detail, with ids in hexadecimal", () => {
  assert.deepEqual(linesOf(chainWith(), happened), [
    ["debug", "block added", { height: 5, id: "01".repeat(32) }],
    ["debug", "block kept beside the chain", { height: 4, id: "02".repeat(32) }],
    ["warn", "chain reorganised", { forkHeight: 3, removed: 2, added: 5 }],
    ["debug", "blocks popped", { height: 4, removed: 3 }],
  ]);
  const ids = [id(3), id(4)];
  const [line] = linesOf(chainWith(), [{ type: "transactionsPublic", ids }]);
  const fields = { ids: ["03".repeat(32), "04".repeat(32)] };
  assert.deepEqual(line, ["debug", "transactions everybody may know of", fields]);
});

test("a loss of power that cost blocks is a warning at the start", () => {
  const text = "power was lost: the chain is as it was last flushed";
  assert.deepEqual(linesOf(chainWith(true), []), [["warn", text, { height: 17 }]]);
  assert.deepEqual(linesOf(chainWith(false), []), []);
  assert.deepEqual(linesOf(chainWith(), []), []);
});

test("what happens to the chain is counted, blocks of a reorganisation as added and as taken off", () => {
  const chain = chainWith();
  const watched = { peering: { protocol: { sync: { target: 20 } } } } as unknown as Watched;
  const monitor = createNodeMonitor({ ...watched, chain });
  assert.ok(Object.values(monitor.counts).every((count) => count === 0));
  for (const event of [...happened, ...happened]) chain.events.emit(event);
  assert.deepEqual(monitor.counts, {
    blocksAdded: 12,
    alternativeBlocks: 2,
    reorganisations: 2,
    reorganisedBlocks: 4,
    poppedBlocks: 6,
    transactionsAdded: 0,
  });
  const transaction = { type: "transactionAdded", id: id(5) } as unknown as ChainEvent;
  chain.events.emit(transaction);
  assert.equal(monitor.counts.transactionsAdded, 1);
  assert.equal(monitor.targetHeight(), 20);
  assert.equal(monitor.topTime(), 0);
  const behind = { peering: { protocol: { sync: { target: 3 } } } } as unknown as Watched;
  assert.equal(createNodeMonitor({ ...behind, chain }).targetHeight(), 17);
});
