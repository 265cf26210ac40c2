import assert from "node:assert/strict";
import { test } from "node:test";
import { addressBlock } from "../src/address-block.ts";

test("64 bits of an IPv6 address count as one, and an IPv4 address however it is written", () => {
  for (const [address, block] of [
    ["1.2.3.4", "1.2.3.4"],
    ["::ffff:1.2.3.4", "1.2.3.4"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
    ["2001:DB8:0001:2:ffff::", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:db8::1:2:3:4:5", "2001:db8:0:1::/64"],
    ["2001:db8:1::", "2001:db8:1:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["", ""],
    ["a.onion", "a.onion"],
    ["abc", "abc"],
  ] as const)
    assert.equal(addressBlock(address), block, address);
});
