/** What a change may touch, as far as events are concerned. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { WalletChange } from "../src/changes.ts";
import { mayFindAgain } from "../src/events/touched-by.ts";

test("payments are found again by blocks, by single transactions and after a reset", () => {
  const kinds = ["blocks", "transactions", "reset", "pool", "time", "keyImages", "outgoing"];
  assert.deepEqual(
    kinds.filter((kind) => mayFindAgain({ kind } as WalletChange)),
    ["blocks", "transactions", "reset"],
  );
});
