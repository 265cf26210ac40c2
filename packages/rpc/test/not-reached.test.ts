import assert from "node:assert/strict";
import { test } from "node:test";
import { NotReached } from "../src/peers/pass-on.ts";

const failure = (code: string) => Object.assign(new Error(code), { code });

/** As Node.js fails to connect to a name with several addresses. */
function failures(...codes: string[]): AggregateError {
  const errors = codes.map(failure);
  return Object.assign(new AggregateError(errors), { code: codes[0] });
}

test("an address is refused where nobody listens, of a name with several addresses at none of them", () => {
  const isRefused = (cause?: unknown) => new NotReached("", { cause }).isRefused;
  assert.equal(isRefused(failure("ECONNREFUSED")), true);
  assert.equal(isRefused(failures("ECONNREFUSED", "ECONNREFUSED")), true);
  assert.equal(isRefused(failures("ECONNREFUSED", "ETIMEDOUT")), false, "the other one may only be slow");
  assert.equal(isRefused(failures("ETIMEDOUT", "ECONNREFUSED")), false);
  assert.equal(isRefused(failure("EHOSTUNREACH")), false);
  assert.equal(isRefused(new Error("not connected in 3000 ms")), false);
  assert.equal(isRefused(), false);
});
