import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import { undoneFrom } from "../src/changes.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import { balance, bytes, mine, newLedger, output, payment, transaction } from "./ledger-items.ts";

test("a reset leaves what remains if all blocks are undone one after the other, and finds the same again", () => {
  const blocks = (ledger: Ledger) => {
    for (let height = 5; height < 45; height++) {
      const received = [output({ key: height, amount: BigInt(height), minor: height % 3 })];
      // The second output of a key replaces the first, which is smaller.
      if (height % 4 === 0) received.push(output({ key: height - 1, amount: 90n }));
      const spends = height % 5 === 0 ? [height - 3] : [];
      mine(ledger, height, transaction(height, height, { received, spends, fee: 1n }));
    }
  };
  const [reset, undone] = [newLedger(), newLedger()];
  for (const ledger of [reset, undone]) {
    blocks(ledger);
    for (const key of [8, 14, 43])
      applyChange(ledger, { kind: "frozen", keyImage: toHex(bytes(key + 100)), frozen: true });
    applyChange(ledger, { kind: "outgoing", payment: payment(200), txKeys: [bytes(1)] });
  }
  const seen = (ledger: Ledger) => {
    const { outputs, incoming, outgoing, frozenBefore, height, recent } = ledger.state;
    return {
      outputs: Array.from(outputs, ({ replaces: _, ...rest }) => rest),
      sums: [...outputs.sumsOf(0)],
      counts: [outputs.count, outputs.withKeyImage, outputs.isAllHidden, outputs.timed],
      incoming: [...incoming],
      outgoing: [...outgoing],
      frozenBefore: [...frozenBefore].sort(),
      rest: [height, recent.length],
      balances: [40, 50, 60].map((at) => balance(ledger, at)),
    };
  };
  const before = seen(reset);
  for (let height = 44; height > 0; height--) applyChange(undone, undoneFrom(height, undone.state));
  for (const ledger of [reset, undone]) applyChange(ledger, { kind: "reset", hard: false });
  const { outputs: none } = reset.state;
  assert.equal(none.count, 0);
  assert.deepEqual([none.placeOfKey(bytes(8)), none.placeOfImage(bytes(108))], [undefined, undefined]);
  assert.deepEqual(seen(reset), seen(undone));
  assert.equal(reset.state.frozenBefore.length, 3);
  for (const ledger of [reset, undone]) blocks(ledger);
  assert.deepEqual(seen(reset), seen(undone));
  const again = seen(reset);
  assert.deepEqual([again.outputs, again.incoming], [before.outputs, before.incoming]);
  assert.deepEqual([again.sums, again.counts, again.rest], [before.sums, before.counts, before.rest]);
  assert.deepEqual(again.outgoing.map(([id]) => id).sort(), before.outgoing.map(([id]) => id).sort());
});

test("a payment that a reorganisation may still undo can be sent again after a reset", () => {
  const ledger = newLedger();
  const { state } = ledger;
  const chain = (withPayment: boolean) => {
    mine(ledger, 1, transaction(1, 1, { received: [output({ key: 1, amount: 100n })] }));
    if (withPayment) mine(ledger, 2, transaction(200, 2, { spends: [1], fee: 5n }));
    for (let height = 3; height < 20; height++) mine(ledger, height);
  };
  mine(ledger, 1, transaction(1, 1, { received: [output({ key: 1, amount: 100n })] }));
  applyChange(ledger, { kind: "outgoing", payment: payment(200, { state: "pending" }), txKeys: [] });
  chain(true);
  assert.equal(state.outgoing.get(toHex(bytes(200)))?.state, "confirmed");
  applyChange(ledger, { kind: "reset", hard: true });
  chain(false);
  const forgotten = state.outgoing.get(toHex(bytes(200)));
  assert.deepEqual(
    [forgotten?.state, forgotten?.height, forgotten?.blob],
    ["forgotten", 0, payment(200).blob],
  );
  assert.equal(state.outputs.withKey(bytes(1))?.pendingSpend, toHex(bytes(200)), "its input is not free");
  applyChange(ledger, { kind: "reset", hard: false });
  chain(true);
  assert.equal(state.outgoing.get(toHex(bytes(200)))?.state, "confirmed");
  assert.equal(state.outputs.withKey(bytes(1))?.pendingSpend, undefined);
  for (let height = 20; height < 110; height++) mine(ledger, height);
  applyChange(ledger, { kind: "reset", hard: false });
  assert.equal(state.outgoing.get(toHex(bytes(200))), undefined, "one that is final is found in its block");
});
