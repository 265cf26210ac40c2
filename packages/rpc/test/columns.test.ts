import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { toHex, writePortable } from "@anulo/protocol";
import { columns, flag, hash, list, object, rawBytes, uint } from "../src/index.ts";

const inText = object({ outs: list(object({ height: uint, key: hash, txid: hash, unlocked: flag })) });
const inBytes = object({
  outs: list(object({ height: uint, key: rawBytes, txid: rawBytes, unlocked: flag })),
});

const heights = [0, 9, 10, 3_800_000, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER, 99, 100, 1];

/** The same records, one by one and field by field. */
function records(count: number) {
  const items = Array.from({ length: count }, (_, i) => ({
    height: heights[i % heights.length]!,
    key: new Uint8Array(createHash("sha256").update(`${i}`).digest()),
    unlocked: i % 3 === 0,
  }));
  const byField = {
    height: Float64Array.from(items, ({ height }) => height),
    key: Uint8Array.from(items.flatMap(({ key }) => [...key])),
    unlocked: Uint8Array.from(items, ({ unlocked }) => (unlocked ? 1 : 0)),
  };
  return { items, byField };
}

const bytesOf = (outs: Parameters<typeof inBytes.writePortable>[0]) => {
  const { value } = inBytes.writePortable(outs) as unknown as { value: Parameters<typeof writePortable>[0] };
  return toHex(writePortable(value));
};

// Closes the cost of an object for each of hundreds of outputs that a caller asks for.
test("records given field by field are written as records given one by one, of any number", () => {
  for (const count of [0, 1, 2, 3, 16, 17, 320, 1000]) {
    const { items, byField } = records(count);
    const byTen = items.map((item) => ({ ...item, key: toHex(item.key), txid: "" }));
    for (const dialect of ["contract", "upstream"] as const) {
      const expected = inText.write({ outs: byTen }, dialect, "  ");
      assert.equal(inText.write({ outs: columns(count, byField) }, dialect, "  "), expected);
    }
    const txid = new Uint8Array(32 * count).fill(7);
    const expected = bytesOf({ outs: items.map((item) => ({ ...item, txid: new Uint8Array(32).fill(7) })) });
    assert.equal(bytesOf({ outs: columns(count, { ...byField, txid }) }), expected);
    const withoutId = bytesOf({ outs: items.map((item) => ({ ...item, txid: new Uint8Array(0) })) });
    assert.equal(bytesOf({ outs: columns(count, byField) }), withoutId);
  }
});
