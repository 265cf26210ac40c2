import assert from "node:assert/strict";
import { test } from "node:test";
import { COLD_OUTPUTS, type ColdOutput, ColdOutputs } from "../src/outputs/cold-outputs.ts";
import { Dice } from "./random-changes.ts";

const coldOf = (dice: Dice): ColdOutput => ({
  txHash: dice.bytes(),
  mask: dice.bytes(),
  txPublicKey: dice.bytes(),
  oneTimeKey: dice.bytes(),
  keyImage: dice.bytes(),
  timestamp: 1_600_000_000 + dice.below(1e9),
  globalIndex: BigInt(dice.below(1e9)),
  txSize: dice.below(1e6),
  outputIndex: dice.below(16),
});

/** A store of pages, and what writes the changed ones to it. */
function pageStore(cold: ColdOutputs) {
  const pages = new Map<number, Uint8Array>();
  let reads = 0;
  const readPage = (page: number) => {
    reads += 1;
    return new Uint8Array(pages.get(page)!);
  };
  const write = () => {
    for (const page of cold.takeChanged()) {
      const bytes = cold.pageBytes(page);
      if (bytes === undefined) pages.delete(page);
      else pages.set(page, bytes);
    }
    cold.written();
  };
  return { pages, readPage, write, readCount: () => reads };
}

test("what is read again from a store is what was written, whatever changes", () => {
  const dice = new Dice("cold");
  const cold = new ColdOutputs();
  const { pages, readPage, write, readCount } = pageStore(cold);
  cold.readFrom(readPage);
  const outputs: ColdOutput[] = [];
  const put = (place: number) => {
    outputs[place] = coldOf(dice);
    cold.write(place, outputs[place]);
  };
  // More pages than are kept.
  for (let place = 0; place < 100 * COLD_OUTPUTS + 7; place++) put(place);
  for (let step = 0; step < 40; step++) {
    for (let i = dice.below(30); i > 0; i--) put(dice.below(outputs.length + 1));
    if (dice.below(8) === 0) {
      outputs.length -= dice.below(3 * COLD_OUTPUTS);
      cold.truncate(outputs.length);
    }
    if (dice.below(3) > 0) write();
    for (let i = 0; i < 50; i++) {
      const place = dice.below(outputs.length);
      assert.deepEqual(cold.read(place), outputs[place]);
    }
  }
  write();
  assert.equal(pages.size, Math.ceil(outputs.length / COLD_OUTPUTS));
  for (const [place, output] of outputs.entries()) assert.deepEqual(cold.read(place), output);
  assert.ok(readCount() > 40, "pages were read again");
});

test("a change that is made while pages are written is not lost", () => {
  const dice = new Dice("while");
  const cold = new ColdOutputs();
  const { pages, readPage } = pageStore(cold);
  cold.readFrom(readPage);
  cold.write(0, coldOf(dice));
  for (const page of cold.takeChanged()) pages.set(page, cold.pageBytes(page)!);
  const later = coldOf(dice);
  cold.write(1, later);
  cold.written();
  assert.deepEqual(cold.read(1), later);
  assert.deepEqual([...cold.takeChanged()], [0]);
});

test("without a store to read from, everything stays in memory", () => {
  const dice = new Dice("held");
  const cold = new ColdOutputs();
  const outputs = Array.from({ length: 70 * COLD_OUTPUTS }, () => coldOf(dice));
  for (const [place, output] of outputs.entries()) cold.write(place, output);
  cold.takeChanged();
  cold.written();
  for (const place of [0, 5000, outputs.length - 1]) assert.deepEqual(cold.read(place), outputs[place]);
});
