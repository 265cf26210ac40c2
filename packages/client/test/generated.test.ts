import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { daemonMethods, walletEventTypes, walletMethods } from "@anulo/rpc";
import { nodeCalls } from "../src/generated/node-calls.ts";
import { walletCalls } from "../src/generated/wallet-calls.ts";
import { parseShape } from "../src/shape.ts";

const inRepository = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

test("what is known of the calls is what their declarations say", () => {
  const { status, stdout } = spawnSync(
    process.execPath,
    [inRepository("scripts/make-client.mjs"), "--check"],
    {
      encoding: "utf8",
    },
  );
  assert.equal(status, 0, stdout);
});

test("every call that JSON carries is there, and its shape can be read", () => {
  const declared = (group: object) =>
    Object.entries(group)
      .filter(([, { name }]) => !name.endsWith(".bin"))
      .map(([key]) => key);
  assert.deepEqual(Object.keys(nodeCalls), declared(daemonMethods));
  assert.deepEqual(Object.keys(walletCalls), declared(walletMethods));
  for (const [, , shape] of [...Object.values(nodeCalls), ...Object.values(walletCalls)]) {
    assert.equal(parseShape(shape).kind === undefined, false, shape);
  }
});

test("the types of events are those that docs/wallet-events.md lists", () => {
  const text = readFileSync(inRepository("docs/wallet-events.md"), "utf8");
  const documented = [...text.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, type]) => type!);
  assert.deepEqual(documented.toSorted(), walletEventTypes.toSorted());
});
