import assert from "node:assert/strict";
import { test } from "node:test";
import { isPublicAddress } from "../src/webhooks/public-address.ts";
import { secretBytes, signedHeaders } from "../src/webhooks/signature.ts";
import { matchesPattern } from "../src/webhooks/wallet-pattern.ts";

test("signs as the convention's own libraries do", () => {
  // Source: the test vector of the Standard Webhooks libraries.
  const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1614265330, body: '{"test": 2432232314}' };
  assert.deepEqual(signedHeaders(message, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), {
    "webhook-id": message.id,
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("refuses secrets that are no secret, without repeating them", () => {
  for (const secret of [
    "",
    "whsec_",
    "whsec_c2hvcnQ=",
    "whsec_!!!",
    `whsec_${"A".repeat(88)}`,
    "A".repeat(44),
  ]) {
    assert.throws(
      () => secretBytes(secret),
      (error: Error) => error instanceof RangeError && (secret.length < 7 || !error.message.includes(secret)),
    );
  }
});

test("tells public addresses from all others", () => {
  const others = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "198.18.0.1",
    "203.0.113.7",
    "224.0.0.1",
    "239.1.1.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:7f00:1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:0:1::",
    "2001:db8::1",
    "fc00::1",
    "fd12::1",
    "fe80::1",
    "ff02::1",
    "localhost",
    "",
  ];
  for (const address of others) assert.equal(isPublicAddress(address), false, address);
  for (const address of [
    "1.1.1.1",
    "8.8.8.8",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700::1111",
    "2a00:1450::1",
  ]) {
    assert.equal(isPublicAddress(address), true, address);
  }
});

test("a star in a pattern stands for any characters", () => {
  for (const pattern of ["alice", "*", "a*", "*e", "a*e", "al**ce", "*l*c*", "alice*"]) {
    assert.ok(matchesPattern("alice", pattern), pattern);
  }
  for (const pattern of ["", "alic", "lice", "b*", "*b", "ali*lice", "alice*e", "a*x*e", "*cc*"]) {
    assert.ok(!matchesPattern("alice", pattern), pattern);
  }
});
