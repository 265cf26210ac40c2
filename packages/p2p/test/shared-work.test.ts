import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { runSliced, SharedTurns } from "@anulo/limits";
import { ConnectionClosed, PeerWork, SharedWork } from "../src/connection/shared-work.ts";
import { createTestNode, FakeClock, FakeInternet } from "./fakes.ts";

const turnsOfTheLoop = async () => {
  for (let i = 0; i < 5; i++) await setImmediate();
};

test("a peer alone goes on at once until all that peers may use is used, then as time passes", async () => {
  const clock = new FakeClock();
  const work = new SharedWork(clock);
  const peer = work.newPeer();
  assert.equal(work.turn(peer), undefined);
  work.charge(peer, 1000);
  let isServed = false;
  void work.turn(peer)?.then(() => {
    isServed = true;
  });
  await clock.pass(1);
  assert.equal(isServed, false, "a second of work is paid by two seconds");
  await clock.pass(2);
  await turnsOfTheLoop();
  assert.equal(isServed, true);
});

// Closes: peers that ask without end are served as soon as those that ask once.
test("who used little goes before those that used much, who take turns", async () => {
  const work = new SharedWork(new FakeClock());
  const [greedy, other, modest] = [work.newPeer(), work.newPeer(), work.newPeer()];
  greedy.charge(1e6);
  other.charge(1e6);
  const order: string[] = [];
  const turns = [
    work.nextTurn(greedy).then(() => order.push("greedy")),
    work.nextTurn(other).then(() => order.push("other")),
    work.nextTurn(greedy).then(() => order.push("greedy again")),
    work.nextTurn(modest).then(() => order.push("modest")),
  ];
  await Promise.all(turns);
  assert.deepEqual(order, ["modest", "greedy", "other", "greedy again"]);
});

test("the event loop turns between two slices, and who waits goes on when all is stopped", async () => {
  const clock = new FakeClock();
  const work = new SharedWork(clock);
  const peers = Array.from({ length: 20 }, () => work.newPeer());
  let served = 0;
  const turns = peers.map((peer) =>
    work.nextTurn(peer).then(() => {
      served++;
    }),
  );
  let most = 0;
  for (let before = 0; served < 10; before = served) {
    await setImmediate();
    most = Math.max(most, served - before);
  }
  assert.equal(most, 1);
  work.stop();
  await Promise.all(turns);
});

// Closes: work that goes on, and memory that is held, for peers who have left.
test("work for a connection ends when it closes, also what had not begun", async () => {
  const clock = new FakeClock();
  const shared = new SharedWork(clock);
  const [left, other] = [new PeerWork(shared), new PeerWork(shared)];
  const steps = (function* () {
    for (;;) yield;
  })();
  const endless = runSliced(steps, left.slicing) as Promise<void>;
  const waiting = other.slicing.pause!();
  left.close();
  await assert.rejects(endless, ConnectionClosed);
  assert.equal(steps.next().done, true);
  await assert.rejects(left.slicing.pause!() as Promise<unknown>, ConnectionClosed);
  // Slices are measured by the real time: on a busy machine one may take more than peers may use without a rest.
  await clock.pass(60);
  await waiting;
});

test("after the end nobody is waited for, and nobody waits behind those who did", async () => {
  const work = new SharedWork(new FakeClock());
  const [first, second] = [work.newPeer(), work.newPeer()];
  const waiting = work.nextTurn(first);
  assert.notEqual(work.turn(second), undefined, "one is before it");
  work.stop();
  await waiting;
  assert.equal(work.turn(first), undefined);
});

test("the work of peers takes its turns beside other works, and its slices count", async () => {
  const turns = new SharedTurns();
  const peer = new PeerWork(new SharedWork(new FakeClock(), turns));
  const done: string[] = [];
  for (const name of ["one", "another"]) void turns.next().then(() => done.push(name));
  function* steps(): Generator<void, void> {
    done.push("begun");
    yield;
    done.push("continued");
  }
  const sliced = Promise.resolve(runSliced(steps(), { ...peer.slicing, sliceMs: 0 }));
  assert.ok(turns.usedMs > 0);
  await sliced;
  assert.deepEqual(done, ["begun", "one", "another", "continued"]);
});

test("the peers of a network take their turns beside the works that it is told of", async () => {
  const [internet, clock, turns] = [new FakeInternet(), new FakeClock(), new SharedTurns()];
  const seen: unknown[] = [];
  const listening = createTestNode(internet, clock, {
    ip: "1.1.1.1",
    turns,
    onConnected: ({ slicing }) => void seen.push(slicing.turns),
  });
  const calling = createTestNode(internet, clock, {
    ip: "2.2.2.2",
    nodes: { exclusive: [listening.address] },
  });
  for (const { network } of [listening, calling]) await network.start();
  await clock.pass(3);
  for (const { network } of [listening, calling]) await network.stop();
  assert.equal(seen.length, 1);
  assert.equal(seen[0], turns);
});
