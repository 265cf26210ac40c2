import assert from "node:assert/strict";
import { test } from "node:test";
import { OlderStore, refusalCodes, UnwrittenStore, WalletRefusal } from "../src/refusal.ts";

test("errors have the codes of the original, and those of our own are above them", () => {
  const names = Object.keys(refusalCodes);
  const own = { TOKEN_CAP: -403, NO_SUCH_INTENT: -404, IDEMPOTENCY_KEY_REUSED: -422, UNOWNED: -503 };
  const codes = Object.fromEntries(names.slice(0, 53).map((name, code) => [name, code === 0 ? 0 : -code]));
  assert.deepEqual(refusalCodes, { ...codes, ...own });
  // Here and there along the list, by their names. Source: wallet_rpc_server_error_codes.h.
  const known = { UNKNOWN_ERROR: -1, NOT_OPEN: -13, WALLET_ALREADY_EXISTS: -21, NOT_MULTISIG: -31 };
  for (const [name, code] of Object.entries({ ...known, IS_BACKGROUND_SYNCING: -52 }))
    assert.equal(refusalCodes[name as keyof typeof refusalCodes], code);
  const error = new WalletRefusal("WATCH_ONLY", "why", { a: 1 });
  assert.deepEqual(
    [error.code, error.kind, error.message, error.name],
    [-29, "WATCH_ONLY", "why", "WalletRefusal"],
  );
  for (const each of [new UnwrittenStore("why"), new OlderStore()]) assert.equal(each.code, -1);
});
