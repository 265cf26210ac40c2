import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { nextDifficulty } from "../src/index.ts";

const vectors = "/usr/share/monero/testdata/difficulty/data.txt";

function simulate(lines: readonly (readonly [timestamp: number, difficulty: bigint])[]): void {
  const timestamps: number[] = [];
  const cumulativeDifficulties: bigint[] = [];
  let cumulative = 0n;
  for (const [block, [timestamp, expected]] of lines.entries()) {
    const from = Math.max(0, timestamps.length - 735);
    const window = {
      timestamps: timestamps.slice(from),
      cumulativeDifficulties: cumulativeDifficulties.slice(from),
    };
    assert.equal(nextDifficulty(window, 120), expected, `block ${block}`);
    timestamps.push(timestamp);
    cumulative += expected;
    cumulativeDifficulties.push(cumulative);
  }
}

test("difficulty follows the 1,000 blocks of the reference's test data", (t) => {
  const isRequired = process.env.ANULO_REAL_PROGRAMS === "required";
  if (!isRequired && !existsSync(vectors))
    return t.skip(`${vectors} is missing (Debian package monero-tests)`);
  const lines = readFileSync(vectors, "utf8").trim().split("\n");
  assert.equal(lines.length, 1000);
  simulate(
    lines.map((line) => {
      const [timestamp, difficulty] = line.split(" ");
      return [Number(timestamp), BigInt(difficulty!)] as const;
    }),
  );
});

test("difficulty starts at 1 and needs two blocks to move", () => {
  assert.equal(nextDifficulty({ timestamps: [], cumulativeDifficulties: [] }, 120), 1n);
  assert.equal(nextDifficulty({ timestamps: [9], cumulativeDifficulties: [7n] }, 120), 1n);
  assert.equal(nextDifficulty({ timestamps: [9, 19], cumulativeDifficulties: [7n, 107n] }, 120), 1200n);
});

test("equal timestamps count as one second, and the quotient is rounded up", () => {
  assert.equal(nextDifficulty({ timestamps: [9, 9], cumulativeDifficulties: [1n, 2n] }, 120), 120n);
  assert.equal(nextDifficulty({ timestamps: [0, 7], cumulativeDifficulties: [0n, 1n] }, 120), 18n);
});

test("a difficulty of more than 128 bits is no difficulty", () => {
  const window = { timestamps: [0, 1], cumulativeDifficulties: [0n, 2n ** 128n - 1n] };
  assert.equal(nextDifficulty(window, 1), 2n ** 128n - 1n);
  assert.equal(nextDifficulty(window, 2), undefined);
});
