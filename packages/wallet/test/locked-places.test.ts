import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_BLOCK_NUMBER } from "@anulo/protocol";
import { LockedPlaces, SPENDABLE_AGE, unlockHeight, waitsForTime } from "../src/outputs/locked-places.ts";
import { Dice } from "./random-changes.ts";

type Locked = Parameters<LockedPlaces["add"]>[2];
const ACCOUNTS = 3;
/** Number of places up to which none of them is looked at. */
const SLACK = 256;

function lockedOutput(dice: Dice, height: number): Locked {
  const times = [
    0n,
    0n,
    BigInt(height + dice.below(80)),
    BigInt(MAX_BLOCK_NUMBER),
    BigInt(MAX_BLOCK_NUMBER - 1),
  ];
  return { height, unlockTime: times[dice.below(times.length)]! };
}

test("every place that unlocks above the height passed is kept, whatever is added, removed and passed", () => {
  const dice = new Dice("locked places");
  const locked = new LockedPlaces();
  const outputs: Locked[] = [];
  const unspent = new Set<number>();
  for (let step = 0; step < 6000; step++) {
    const height = Math.floor(step / 10);
    const { passed } = locked;
    const act = dice.below(10);
    if (act < 7) {
      const place = outputs.push(lockedOutput(dice, height)) - 1;
      unspent.add(place);
      locked.add(place % ACCOUNTS, place, outputs[place]!);
    } else if (act < 8 && outputs.length > 0) {
      const place = dice.below(outputs.length);
      unspent.delete(place);
      locked.delete(place % ACCOUNTS, place);
    } else locked.pass(Math.max(0, height + dice.below(30) - 20), (place) => outputs[place]!);
    assert.ok(locked.passed >= passed, "a lower height takes nothing back");
    if (step % 20 !== 0) continue;
    const kept = [0, 1, 2].flatMap((major) => [...locked.ofAccount(major)]);
    assert.ok(kept.every((place) => unspent.has(place)));
    for (const place of unspent) {
      const mayBeLocked = waitsForTime(outputs[place]!) || unlockHeight(outputs[place]!) > locked.passed;
      if (mayBeLocked) assert.ok(locked.ofAccount(place % ACCOUNTS).has(place), `${step}: ${place}`);
    }
  }
  assert.ok(locked.passed > 500);
});

test("what a height unlocks is dropped once there are enough places, and not looked for before", () => {
  const locked = new LockedPlaces();
  const soon: Locked = { height: 1, unlockTime: 0n };
  const late: Locked = { height: 1, unlockTime: 50n };
  const isLate = (place: number) => place % 2 === 1;
  let looks = 0;
  const pass = (height: number) => {
    looks = 0;
    locked.pass(height, (place) => {
      looks++;
      return isLate(place) ? late : soon;
    });
    return [looks, locked.ofAccount(0).size, locked.passed];
  };
  const add = (place: number) => locked.add(0, place, isLate(place) ? late : soon);
  for (let place = 0; place < SLACK - 1; place++) add(place);
  add(0);
  assert.deepEqual(pass(1 + SPENDABLE_AGE), [0, SLACK - 1, 0]);
  add(SLACK - 1);
  assert.deepEqual(pass(SPENDABLE_AGE), [SLACK, SLACK, SPENDABLE_AGE]);
  // Now that none of them could be dropped, twice as many may gather, and a few more.
  for (let place = SLACK; place < 3 * SLACK - 1; place++) add(place);
  assert.deepEqual(pass(1 + SPENDABLE_AGE), [0, 3 * SLACK - 1, SPENDABLE_AGE]);
  add(3 * SLACK - 1);
  assert.deepEqual(pass(1 + SPENDABLE_AGE), [3 * SLACK, 1.5 * SLACK, 1 + SPENDABLE_AGE]);
  // What is unlocked by now is not kept; without places nothing is to be looked at.
  add(0);
  assert.equal(locked.ofAccount(0).size, 1.5 * SLACK);
  locked.restart(40);
  assert.deepEqual(
    [pass(40), pass(41)],
    [
      [0, 0, 40],
      [0, 0, 41],
    ],
  );
  assert.deepEqual(pass(30), [0, 0, 41]);
});
