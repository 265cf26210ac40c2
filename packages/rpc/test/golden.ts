import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { type Call, daemonMethods, walletMethods } from "../src/index.ts";

/** One step of a recording; integers beyond 2^53 are bigint. */
export type Step = {
  readonly id: string;
  readonly to: string;
  readonly crashed?: boolean;
  readonly request: {
    readonly path?: string;
    readonly http?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: { readonly method?: unknown; readonly params?: unknown };
    readonly text?: string;
    readonly hex?: string;
    readonly half_close?: boolean;
    readonly body_bytes?: number;
    readonly login?: readonly [string, string];
    readonly challenge?: number;
    readonly new_connection?: boolean;
  };
  readonly answer: {
    readonly http: number;
    readonly reason?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly json?: unknown;
    readonly text?: string;
    readonly hex?: string;
    readonly raw_bytes_in_json?: boolean;
  };
};

const folders = { "0.18.0": "golden", "0.18.5": "golden-0.18.5" } as const;

/** The steps of one group, as a release of the original programs answered them. */
export function goldenSteps(group: string, release: keyof typeof folders = "0.18.5"): Step[] {
  const file = new URL(`../../../testkit/fixtures/${folders[release]}/${group}.json.gz`, import.meta.url);
  const text = gunzipSync(readFileSync(file)).toString("utf8");
  return (exactJson(text) as { steps: Step[] }).steps;
}

/** Any JSON; integers beyond 2^53 are bigint. */
export function exactJson(text: string): unknown {
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}/g, (token) =>
    token.startsWith('"') ? token : `"\\u0000${token}"`,
  );
  return JSON.parse(marked, unmark);
}

/** Reviver that turns text marked with a zero character into the integer it holds. */
export function unmark(_key: string, value: unknown): unknown {
  if (typeof value !== "string" || !value.startsWith("\0")) return value;
  const number = Number(value.slice(1));
  return Number.isSafeInteger(number) ? number : BigInt(value.slice(1));
}

/** The declaration of the call that a step makes; undefined for a call that is none. */
export function callOf({ to, request }: Step): Call | undefined {
  const isWallet = ["a", "b", "c", "cold"].includes(to);
  const calls: readonly Call[] = Object.values(isWallet ? walletMethods : daemonMethods);
  const isJsonRpc = request.path === "/json_rpc";
  const name = isJsonRpc ? request.body?.method : request.path;
  return calls.find(
    (call) =>
      (call.transport === "jsonRpc") === isJsonRpc && [call.name, ...call.aliases].some((it) => it === name),
  );
}
