import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { SharedTurns } from "@anulo/limits";
import type { ChainReader, ChainStore, ChainWriter } from "../src/index.ts";
import { openStore } from "../src/index.ts";
import { bytesOf, sampleBlock, sampleFacts } from "./sample-blocks.ts";

let folder = "";
let store: ChainStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "anulo-long-"));
  store = await openStore({ path: join(folder, "chain.mdb"), network: "regtest" });
  for (let height = 0; height < 10; height++)
    store.write((writer) => writer.appendBlock(sampleBlock(height)));
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** More than one turn of the event loop may take. */
function fillTurn(): void {
  const start = performance.now();
  while (performance.now() - start < 20);
}

/** What a reader sees, by single rows and by walks. */
function picture(read: ChainReader) {
  return {
    height: read.height(),
    top: read.blockInfos(0, 100).at(-1)?.timestamp,
    heights: Array.from({ length: 14 }, (_, i) => read.heightOf(sampleBlock(i).hash)),
    outputs: [...read.outputCounts()],
    spent: read.isKeyImageSpent(sampleBlock(9).transactions[1]!.keyImages[0]!),
    weights: [...read.blockInfoColumn("longTermWeight", 0, 100)].length,
    alternatives: read.alternativeBlocks().length,
  };
}

/** Takes two blocks off and puts four on, a turn for each. */
function* change(writer: ChainWriter, seen: unknown[]): Generator<void, string> {
  for (let i = 0; i < 2; i++) {
    writer.popBlock(sampleFacts);
    fillTurn();
    yield;
    seen.push(store.read.height());
  }
  for (let height = 8; height < 12; height++) {
    writer.appendBlock(sampleBlock(height));
    writer.putAlternativeBlock(bytesOf(`side ${height}`), {
      height,
      cumulativeDifficulty: 1n,
      alreadyGenerated: 1n,
      weight: 1,
      blob: bytesOf("side"),
    });
    fillTurn();
    yield;
    seen.push(store.read.blockInfos(0, 100).length);
  }
  return "done";
}

/** What others see, turn by turn, until the long write is over. */
async function watch(writing: Promise<unknown>): Promise<unknown[]> {
  const pictures: unknown[] = [];
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  writing.then(over, over);
  while (!isOver) {
    const snapshot = store.snapshot();
    const both = [picture(store.read), picture(snapshot)];
    snapshot.close();
    await setImmediate();
    if (!isOver) pictures.push(...both);
  }
  return pictures;
}

test("what is written in turns is seen by others when all of it is there", async () => {
  const before = picture(store.read);
  const held = store.snapshot();
  const seen: unknown[] = [];
  let whenWritten: unknown;
  const writing = store.writeInTurns(
    (writer) => change(writer, seen),
    () => {
      whenWritten = picture(store.read);
    },
  );
  const pictures = await watch(writing);
  assert.equal(await writing, "done");
  assert.deepEqual(seen, [9, 8, 9, 10, 11, 12]);
  assert.ok(pictures.length >= 8, `${pictures.length} pictures`);
  for (const each of pictures) assert.deepEqual(each, before);
  assert.deepEqual(picture(held), before);
  held.close();
  const after = picture(store.read);
  assert.deepEqual(whenWritten, after);
  assert.deepEqual([after.height, after.alternatives, after.weights], [12, 4, 12]);
});

test("a change in turns that fails writes nothing", async () => {
  const before = picture(store.read);
  const failing = store.writeInTurns(
    function* (writer) {
      yield* change(writer, []);
      throw new Error("it fails at the end");
    },
    () => assert.fail("nothing was written"),
  );
  await watch(failing);
  await assert.rejects(failing, /fails at the end/);
  assert.deepEqual(picture(store.read), before);
  store.write((writer) => writer.appendBlock(sampleBlock(10)));
  assert.equal(store.read.height(), 11);
});

test("nobody else writes meanwhile: writers wait, and who does not is refused", async () => {
  const order: string[] = [];
  const writing = store.writeInTurns(
    (writer) => change(writer, []),
    () => order.push("long"),
  );
  assert.throws(() => store.write(() => {}), /in turns/);
  const short = store.whenWritable(() => {
    store.write((writer) => writer.appendBlock(sampleBlock(12)));
    order.push("short");
  });
  const second = store.writeInTurns(
    function* (writer) {
      writer.popBlock(sampleFacts);
      fillTurn();
      yield;
    },
    () => order.push("second"),
  );
  await Promise.all([writing, short, second]);
  assert.deepEqual(order, ["long", "short", "second"]);
  assert.equal(store.read.height(), 12);
});

test("a long write waits for its turn behind other works, whose time counts", async () => {
  const turns = new SharedTurns();
  const beside = await openStore({ network: "regtest", turns });
  const done: string[] = [];
  for (const name of ["one", "another"]) void turns.next().then(() => done.push(name));
  const change = function* (writer: ChainWriter) {
    writer.appendBlock(sampleBlock(0));
    done.push("block");
    turns.count(1000);
    yield;
    done.push("rest");
  };
  await beside.writeInTurns(change, () => done.push("written"));
  await beside.close();
  assert.deepEqual(done, ["block", "one", "another", "rest", "written"]);
});
