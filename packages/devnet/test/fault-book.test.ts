/** Which requests a fault befalls, and how often: what those see who pass requests on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFaults, type FaultOptions } from "../src/faults.ts";

const slow: FaultOptions = { at: "node", kind: "slow" };

test("a fault without a delay of its own waits for a second, and others as long as they say", () => {
  const faults = createFaults();
  faults.begin({ ...slow, times: 1 });
  assert.deepEqual(faults.apply({ at: "node" }), { ...slow, times: 1, delayMs: 1000 });
  faults.begin({ ...slow, delayMs: 3_600_000 });
  assert.equal(faults.apply({ at: "node" })?.delayMs, 3_600_000);
  assert.throws(() => faults.begin({ ...slow, delayMs: 3_600_001 }), RangeError);
  faults.endAll();
  faults.begin({ ...slow, delayMs: 0 });
  assert.equal(faults.apply({ at: "node" })?.delayMs, 0);
});

test("a fault befalls as many requests as it is to, each counts, and then it is over", () => {
  const faults = createFaults();
  const [first, second] = [faults.begin({ ...slow, times: 2 }), faults.begin(slow)];
  assert.notEqual(first.id, second.id);
  for (let count = 1; count <= 2; count++) {
    assert.equal(first.isOver, false);
    faults.apply({ at: "node" });
    assert.equal(first.count, count);
  }
  assert.deepEqual([first.isOver, faults.active.map(({ id }) => id)], [true, [second.id]]);
  faults.apply({ at: "node" });
  assert.deepEqual([first.count, second.count], [2, 1]);
  first.end();
  assert.deepEqual([second.isOver, faults.active.length], [false, 1], "what is over ends nothing else");
  second.end();
  assert.deepEqual([second.isOver, faults.apply({ at: "node" })], [true, undefined]);
  const refused: Partial<FaultOptions>[] = [{ times: 0 }, { times: 1.5 }, { wallet: "shop" }, { calls: [] }];
  for (const each of refused) assert.throws(() => faults.begin({ ...slow, ...each }), RangeError);
});

test("a call is meant by either of its names, and none where it is not known yet", () => {
  const faults = createFaults();
  faults.begin({ ...slow, calls: ["send_raw_transaction", "get_info"] });
  const isMet = (call?: string) => faults.apply({ at: "node", call }) !== undefined;
  assert.deepEqual(["sendrawtransaction", "get_info", "get_height", undefined].map(isMet), [
    true,
    true,
    false,
    false,
  ]);
  assert.equal(faults.concerns({ at: "node" }), true);
  assert.equal(faults.concerns({ at: "wallet" }), false);
});

test("a fault of one wallet befalls no other, and who listens is told of each that begins", () => {
  const faults = createFaults();
  const begun: FaultOptions[] = [];
  faults.onBegin.push((options) => void begun.push(options));
  const options: FaultOptions = { at: "wallet", kind: "refusing", wallet: "shop" };
  faults.begin(options);
  assert.deepEqual(begun, [options]);
  faults.begin(slow);
  assert.equal(faults.concerns({ at: "node" }), true, "one of two is there");
  const isMet = (wallet: string) => faults.apply({ at: "wallet", wallet }) !== undefined;
  assert.deepEqual(
    [isMet("shop"), isMet("payer"), faults.concerns({ at: "wallet", wallet: "payer" })],
    [true, false, false],
  );
});
