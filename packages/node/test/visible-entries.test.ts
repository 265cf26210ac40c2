import assert from "node:assert/strict";
import { test } from "node:test";
import type { PoolEntry } from "../src/pool/entry.ts";
import { visibleEntries } from "../src/rpc/pool-info.ts";

const entry = (row: Partial<PoolEntry["row"]>) =>
  ({ row: { keptByBlock: false, doNotRelay: false, phase: "fluff", ...row } }) as PoolEntry;

test("a restricted port shows no transaction before everybody may know it, and another shows all", () => {
  const known = [entry({}), entry({ keptByBlock: true, doNotRelay: true })];
  const entries = [
    ...known,
    entry({ doNotRelay: true }),
    entry({ phase: "stem" }),
    entry({ phase: "local" }),
  ];
  const seen = (restricted: boolean) =>
    visibleEntries({ parts: { pool: { entries: () => entries } }, restricted } as never);
  assert.deepEqual(seen(false), entries);
  assert.deepEqual(seen(true), known);
});
