import assert from "node:assert/strict";
import { test } from "node:test";
import { BadUsage } from "../src/flags.ts";
import { metricsAddressOf } from "../src/metrics-flags.ts";

const addressOf = (text: string | undefined, isConfirmed = false) =>
  metricsAddressOf({ "metrics-bind": text, "confirm-external-bind": isConfirmed });

test("metrics are served on this machine alone unless that is confirmed", () => {
  assert.equal(addressOf(undefined), undefined);
  assert.deepEqual(addressOf("9100"), { host: "127.0.0.1", port: 9100 });
  assert.deepEqual(addressOf("[::1]:9100"), { host: "::1", port: 9100 });
  assert.throws(() => addressOf("0.0.0.0:9100"), BadUsage);
  assert.deepEqual(addressOf("0.0.0.0:9100", true), { host: "0.0.0.0", port: 9100 });
  for (const bad of ["", "host.example:1", "1.2.3.4", "127.0.0.1:", "70000"])
    assert.throws(() => addressOf(bad, true), BadUsage);
});
