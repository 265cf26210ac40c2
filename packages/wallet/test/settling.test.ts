import assert from "node:assert/strict";
import { test } from "node:test";
import { EventDeriver } from "../src/events/deriver.ts";
import { type Settling, Unsettled } from "../src/events/settling.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { blocks, output, transaction } from "./events-fixture.ts";

test("nothing is planned at heights that are reached", () => {
  const unsettled = new Unsettled<Settling>();
  const now = { network: "regtest", height: 40, seconds: 0 } as const;
  let reads = 0;
  for (let i = 0; i < 100; i++) {
    const item = {
      unlockTime: i % 2 === 0 ? 0n : 7n,
      get height() {
        reads += 1;
        return 35;
      },
    };
    unsettled.add(`${i}`, { item, marks: [3, 10], tellsUnlock: true }, now.height);
  }
  reads = 0;
  assert.deepEqual([...unsettled.dueSince(-1, now)], []);
  assert.equal(reads, 0);
  assert.equal([...unsettled.dueSince(40, { ...now, height: 50 })].length, 300);
});

test("each block costs what is due, however much has settled", async () => {
  const ledger = createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
  const many = Array.from({ length: 20_000 }, (_, i) => {
    const key = new Uint8Array(32);
    new DataView(key.buffer).setUint32(0, i);
    return {
      ...transaction(1, 5, { received: [{ ...output(1, 1n), oneTimeKey: key, keyImage: undefined }] }),
      txHash: key,
    };
  });
  const deriver = await EventDeriver.of(ledger);
  const first = blocks(5, 200, ...many);
  assert.equal(deriver.observe(first, () => applyChange(ledger, first)).length, 60_000);
  const { incoming } = ledger.state;
  const before = incoming.reads;
  const next = blocks(205, 1);
  assert.deepEqual(
    deriver.observe(next, () => applyChange(ledger, next)),
    [],
  );
  assert.equal(incoming.reads, before);
});
