import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import {
  agreedPowHash,
  meetsDifficulty,
  nextSeedHeight,
  parseSeedSchedule,
  powVariantOf,
  proofOfWork,
  RANDOMX_VERSIONS,
  randomXVersionOf,
  SEED_SCHEDULE,
  seedHeight,
} from "../src/index.ts";
import { fakeView } from "./fake-view.ts";
import { assertRefused } from "./refusals.ts";

test("each fork hashes its blocks its own way", () => {
  const variants = Array.from({ length: 16 }, (_, i) => powVariantOf(i + 1));
  const randomx = "randomx" as const;
  assert.deepEqual(variants, [0, 0, 0, 0, 0, 0, 1, 2, 2, 4, 4, randomx, randomx, randomx, randomx, randomx]);
});

test("no hard fork brings the second version of RandomX yet", () => {
  for (let version = 12; version < 256; version++) assert.equal(randomXVersionOf(version), 1);
  assert.deepEqual(RANDOMX_VERSIONS, [1]);
});

test("the seed of RandomX changes every 2048 blocks, 64 blocks late", () => {
  assert.equal(seedHeight(0), 0);
  assert.equal(seedHeight(2112), 0);
  assert.equal(seedHeight(2113), 2048);
  assert.equal(seedHeight(4160), 2048);
  assert.equal(seedHeight(4161), 4096);
  assert.equal(nextSeedHeight(2048), 0);
  assert.equal(nextSeedHeight(2049), 2048);
});

test("a test chain may change its seed more often, by powers of two", () => {
  assert.deepEqual(parseSeedSchedule(undefined, undefined), SEED_SCHEDULE);
  assert.deepEqual(parseSeedSchedule("64", "16"), { epochBlocks: 64, lagBlocks: 16 });
  assert.deepEqual(parseSeedSchedule("63", "3"), SEED_SCHEDULE);
  assert.deepEqual(parseSeedSchedule("1", "0"), SEED_SCHEDULE);
  assert.deepEqual(parseSeedSchedule("4096", "128"), SEED_SCHEDULE);
  assert.equal(parseSeedSchedule("2", "1").lagBlocks, 1);
  const schedule = parseSeedSchedule("64", "16");
  assert.equal(seedHeight(80, schedule), 0);
  assert.equal(seedHeight(81, schedule), 64);
  assert.equal(nextSeedHeight(65, schedule), 64);
});

const work = { blob: new Uint8Array(76), height: 202_611, majorVersion: 12, difficulty: 1_000n };

test("work is an obligation, with the id of its seed block from hard fork 12", () => {
  const view = fakeView({ seedSchedule: { epochBlocks: 64, lagBlocks: 16 } });
  const [obligation] = proofOfWork({ ...work, height: 81 }, view);
  assert.deepEqual(obligation?.seedId, view.blockId(64));
  assert.equal(proofOfWork({ ...work, majorVersion: 11 }, view)[0]?.seedId, undefined);
  assert.deepEqual(proofOfWork({ ...work, difficulty: 1n }, view), []);
});

test("block 202612 has the hash its time gave it, and no other", () => {
  const hash = agreedPowHash(202_612)!;
  assert.equal(toHex(hash), "84f64766475d51837ac9efbef1926486e58563c95a19fef4aec3254f03000000");
  assert.equal(agreedPowHash(202_611), undefined);
  assert.equal(agreedPowHash(202_613), undefined);
  assert.equal(proofOfWork(work, fakeView()).length, 1);
  assert.deepEqual(proofOfWork({ ...work, height: 202_612, difficulty: 1_000_000_000n }, fakeView()), []);
  assertRefused(
    () => proofOfWork({ ...work, height: 202_612, difficulty: 2_000_000_000n }, fakeView()),
    "PROOF_OF_WORK",
  );
});

test("a hash meets a difficulty while their product stays below 2^256", () => {
  const hash = new Uint8Array(32);
  hash[31] = 1;
  assert.ok(meetsDifficulty(hash, 255n));
  assert.ok(!meetsDifficulty(hash, 256n));
  const highest = new Uint8Array(32).fill(255);
  assert.ok(meetsDifficulty(highest, 1n));
  assert.ok(!meetsDifficulty(highest, 2n));
  hash.fill(0, 31).fill(1, 15, 16);
  assert.ok(meetsDifficulty(hash, 2n ** 128n - 1n));
});
