import assert from "node:assert/strict";
import type { RecognisedAddresses } from "../src/scan/address-runs.ts";

type Listed = RecognisedAddresses & {
  entries(): Iterable<{
    readonly key: Uint8Array;
    readonly index: { readonly major: number; readonly minor: number };
  }>;
};

/** A table recognises the addresses of another, with the same indices, and none beside them. */
export function checkSameAddresses(table: Listed, whole: Listed): void {
  assert.deepEqual([...table.entries()], [...whole.entries()]);
  for (const { key, index } of whole.entries()) {
    assert.deepEqual(table.indexOf(key), index);
    const stranger = key.slice();
    stranger[31]! ^= 1;
    assert.equal(table.indexOf(stranger), undefined);
  }
}
