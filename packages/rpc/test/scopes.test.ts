/** What the declarations say about tokens. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { daemonMethods } from "../src/daemon/daemon.ts";
import type { Call } from "../src/define.ts";
import { discover } from "../src/openrpc.ts";
import { walletResources } from "../src/wallet/resources.ts";
import { walletMethods } from "../src/wallet/wallet.ts";

const calls: readonly Call[] = [...Object.values(walletMethods), discover];
const named = (test: (call: Call) => boolean): string[] =>
  calls
    .filter(test)
    .map(({ name }) => name)
    .sort();

test("every call and resource of the wallet service says which scope it needs", () => {
  assert.deepEqual(
    named(({ scope }) => scope === undefined),
    [],
  );
  for (const { path, scope } of Object.values(walletResources)) assert.ok(scope !== undefined, path);
  assert.ok(
    Object.values(daemonMethods).every((call: Call) => call.scope === undefined),
    "the node has no tokens",
  );
});

test("what any token may call tells nothing of a wallet", () => {
  assert.deepEqual(
    named(({ scope }) => scope === "any"),
    ["get_languages", "get_version", "rpc.discover"],
  );
});

test("what is about the open wallet needs one; only the period of refreshes is also set without", () => {
  const withoutWallet = named(({ reach, needs }) => reach === "wallet" && !needs.includes("openWallet"));
  assert.deepEqual(withoutWallet, ["auto_refresh"]);
});

test("what takes the name of a wallet's file is about that wallet", () => {
  const taking = named(
    ({ params }) => "fields" in params && Object.hasOwn(params.fields as object, "filename"),
  );
  assert.deepEqual(
    named(({ reach }) => reach === "filename"),
    taking,
  );
});

test("what changes a wallet or sends is more than reading", () => {
  const acting = named(({ reads, scope }) => !reads && (scope === "read" || scope === "any"));
  assert.deepEqual(acting, []);
});
