/** Payments whose blocks are scanned again, and what has become of each. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { RememberedPayments } from "../src/events/remembered-payments.ts";
import type { IncomingPayment } from "../src/state.ts";
import { idOf } from "./large-history.ts";

function payment(name: string, height: number, minor = 0): IncomingPayment {
  return {
    ...{ txHash: idOf(name), paymentId: new Uint8Array(32), amount: 5n, amounts: [5n], fee: 1n, height },
    ...{ timestamp: 1_700_000_000, unlockTime: 0n, coinbase: false, subaddress: { major: 0, minor } },
  };
}

for (const count of [5, 64, 65, 300])
  test(`of ${count} payments in blocks those are lost that are neither found nor forgotten`, () => {
    const remembered = new RememberedPayments();
    const all = Array.from({ length: count }, (_, i) => payment(`${i}`, 1 + i));
    for (const [i, each] of all.entries()) {
      remembered.add(each);
      // At once, so that more come after them.
      if (i % 3 === 1) assert.equal(remembered.find({ ...each, height: 7 }), "block");
      if (i % 3 === 2) remembered.forget(each);
    }
    const lost = all.filter((_, i) => i % 3 === 0);
    assert.deepEqual([...remembered.lost()], lost);
    for (const [i, each] of all.entries()) assert.equal(remembered.has(each), i % 3 !== 2);
    assert.deepEqual([...remembered.takeLost()], lost);
    assert.deepEqual([...remembered.lost()], []);
    assert.equal(remembered.has(all[0]!), false);
    remembered.add(all[1]!);
    assert.deepEqual([...remembered.lost()], [all[1]]);
  });

test("payments in the pool wait until they are found, and are told apart by their addresses", () => {
  const remembered = new RememberedPayments();
  const [one, two] = [payment("a", 0, 1), payment("a", 0, 2)];
  remembered.add(one);
  remembered.add(two);
  assert.deepEqual([...remembered.waiting()], [one, two]);
  assert.deepEqual([...remembered.lost()], []);
  assert.equal(remembered.find(payment("a", 9, 1)), "pool");
  assert.equal(remembered.find(payment("a", 9, 3)), undefined);
  assert.equal(remembered.find(payment("b", 0, 1)), undefined);
  assert.deepEqual([...remembered.waiting()], [two]);
  assert.ok(remembered.has(one) && remembered.has(two));
  remembered.forget(two);
  assert.deepEqual([remembered.has(two), [...remembered.waiting()]], [false, []]);
  // It is in a block now, and no longer in the pool.
  remembered.add(payment("a", 9, 1));
  assert.equal(remembered.find(one), "block");
  remembered.add(two);
  remembered.clear();
  assert.deepEqual([remembered.has(one), remembered.has(two)], [false, false]);
});
