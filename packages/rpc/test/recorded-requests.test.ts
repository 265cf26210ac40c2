import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BadRequest, type Call, type Json, parseJson } from "../src/index.ts";
import { callOf, goldenSteps, type Step } from "./golden.ts";

/** Refused by us on purpose: an index that is no object would relabel the first address. */
const deliberate = (id: string): boolean => /^label_address:index is (?!null|array$|object)/.test(id);

/** JSON text of a recorded value; bigint as bare digits. */
function textOf(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}:${textOf(member)}`)
    .join(",")}}`;
}

function isRefused(call: Call, params: unknown): boolean {
  const isList = call.params.kind === "list";
  const { p = null } = parseJson(`{"p":${textOf(params ?? null)}}`);
  const none: Json = isList ? [] : {};
  const fits = isList ? Array.isArray(p) : typeof p === "object" && p !== null && !Array.isArray(p);
  try {
    call.params.read(fits ? p : none, { of: "request" });
    return false;
  } catch (error) {
    assert.ok(error instanceof BadRequest);
    return true;
  }
}

/** Whether the original refused the params, as far as its response shows. */
function wasRefused({ answer, request }: Step): boolean {
  if (request.path !== "/json_rpc") return answer.http === 400;
  return (answer.json as { error?: { code?: number } } | undefined)?.error?.code === -32602;
}

const groups = [
  "node_read",
  "node_write",
  "wallet_none",
  "wallet_files",
  "wallet_read",
  "wallet_send",
  "wallet_cold",
];

describe("recorded requests", () => {
  for (const group of groups) {
    it(`of ${group} are refused where the original program refused their params`, () => {
      let checked = 0;
      // Texts of digits are taken for numbers, as until 0.18.5.
      for (const step of goldenSteps(group, "0.18.0")) {
        const { path, body } = step.request;
        const call = callOf(step);
        if (call === undefined || body === undefined || step.crashed || deliberate(step.id)) continue;
        if (/above 64 bits|exponent/.test(step.id)) continue;
        assert.equal(isRefused(call, path === "/json_rpc" ? body.params : body), wasRefused(step), step.id);
        checked++;
      }
      assert.ok(checked > 10, `${checked} requests`);
    });
  }
});
