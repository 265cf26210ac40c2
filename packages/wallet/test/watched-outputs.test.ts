/** Rings that contain an output whose spend can't be recognised, and text that is taken for bytes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Transaction } from "@anulo/protocol";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { isHash, parseHex, parseKeyImage, parseTxHash } from "../src/rpc/parse-hex.ts";
import { namesWatched, watch, watchedOutputs } from "../src/scan/watched-outputs.ts";

type Ring = readonly [amount: bigint, ...keyOffsets: bigint[]];

function spending(...rings: readonly Ring[]): Transaction {
  const inputs = rings.map(([amount, ...keyOffsets]) => ({ type: "key", amount, keyOffsets }));
  return { prefix: { inputs } } as unknown as Transaction;
}

const output = (amount: bigint, globalIndex: bigint, options: Partial<OwnedOutput> = {}) =>
  ({ amount, globalIndex, rct: true, keyImage: undefined, ...options }) as OwnedOutput;

test("a ring names an output by the sum of the offsets up to it, among those of its amount", () => {
  const watched = watchedOutputs([
    output(5n, 100n),
    output(7n, 200n, { keyImage: new Uint8Array(32) }),
    output(9n, 30n, { rct: false }),
  ]);
  assert.equal(namesWatched(watched, spending([0n, 40n, 60n, 1n])), true);
  assert.equal(namesWatched(watched, spending([0n, 40n, 61n, 100n])), false);
  assert.equal(namesWatched(watched, spending([0n, 200n])), false, "its image is known");
  assert.equal(namesWatched(watched, spending([5n, 100n])), false, "a hidden amount is none");
  assert.equal(namesWatched(watched, spending([9n, 30n])), true);
  assert.equal(namesWatched(watched, spending([0n, 30n])), false);
  assert.equal(namesWatched(watched, spending([0n, 1n], [9n, 10n, 20n])), true, "in any input");
  const mining = { prefix: { inputs: [{ type: "generation", height: 1 }] } } as unknown as Transaction;
  assert.equal(namesWatched(watched, mining), false);
  watch(watched, output(1n, 31n));
  assert.equal(namesWatched(watched, spending([0n, 31n])), true);
  assert.equal(namesWatched(watched, spending([0n, 100n])), true, "beside the one before");
});

test("only 32 bytes in hexadecimal are an id or a key image, and only pairs of digits are bytes", () => {
  const digits = "0aF1".repeat(16);
  assert.equal(isHash(digits), true);
  const wrong = [digits.slice(1), `${digits}0`, `${digits}\n`, `g${digits.slice(1)}`, ""];
  for (const text of wrong) assert.equal(isHash(text), false);
  assert.deepEqual([...parseTxHash(digits).slice(0, 2)], [0x0a, 0xf1]);
  assert.deepEqual([...parseKeyImage(digits).slice(0, 2)], [0x0a, 0xf1]);
  assert.deepEqual([...parseHex("0aF1")], [0x0a, 0xf1]);
  const refuses = (kind: string, parse: () => unknown) =>
    assert.throws(parse, (error: Error) => error instanceof WalletRefusal && error.kind === kind);
  for (const text of wrong) {
    refuses("WRONG_TXID", () => parseTxHash(text));
    refuses("WRONG_KEY_IMAGE", () => parseKeyImage(text));
  }
  for (const text of ["0", "0g"]) refuses("BAD_HEX", () => parseHex(text));
});
