import assert from "node:assert/strict";
import { test } from "node:test";
import { readKnownBlocks } from "../src/known-blocks-file.ts";

test("the known blocks of mainnet reach as far as those of release 0.18.5, and no others are taken for them", () => {
  const known = readKnownBlocks();
  assert.equal(known.height, 3_706_880);
  const ids = Array.from({ length: 512 }, () => new Uint8Array(32));
  assert.equal(known.isGroup(0, { ids, weights: undefined }), false);
});
