import assert from "node:assert/strict";
import { test } from "node:test";
import { Connections } from "../src/zmq/connections.ts";
import type { Subscriber } from "../src/zmq/subscriber.ts";
import { zmqLimits } from "../src/zmq/zmq-limits.ts";

/** A connection from an address that has a subscription, so that it makes room for nobody. */
function subscriberAt(address: string): Subscriber {
  return { address, subscriptions: { size: 1 } } as unknown as Subscriber;
}

test("64 bits of IPv6 have the connections of one address, other addresses their own", () => {
  const connections = new Connections({ ...zmqLimits, connectionsPerAddress: 2 });
  const join = (address: string) => connections.add(subscriberAt(address));
  assert.deepEqual(
    ["2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:0:1:ffff::3", "2001:db8:0:2::1"].map(join),
    [true, true, false, true],
  );
  assert.deepEqual(["203.0.113.1", "::ffff:203.0.113.1", "203.0.113.1", "203.0.113.2"].map(join), [
    true,
    true,
    false,
    true,
  ]);
  assert.equal(connections.size, 6);
});
