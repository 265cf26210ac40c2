import { type Exact, type ExactObject, isExactObject } from "@anulo/devnet";
import { loadGoldenText, type RecordedRelease } from "../fixtures.ts";

/** Every recording, in the order of replay. */
export const goldenGroups = [
  "node_read",
  "node_restricted",
  "node_write",
  "node_bin",
  "node_ban",
  "node_http",
  "node_login",
  "wallet_http",
  "wallet_login",
  "wallet_none",
  "wallet_files",
  "wallet_read",
  "wallet_send",
  "wallet_cold",
  "wallet_multisig",
  "wallet_restricted",
] as const;

export type GoldenGroup = (typeof goldenGroups)[number];

export type ServerName = "node" | "restricted" | "a" | "b" | "c" | "cold";

/** A request as it was sent: JSON `body`, `text` or `hex`; with `http`, the method and every header are given. */
export type GoldenRequest = {
  readonly path: string;
  readonly body?: Exact;
  readonly text?: string;
  readonly hex?: string;
  readonly http?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes of a body too long to be recorded. */
  readonly body_bytes?: number;
  readonly half_close?: boolean;
  /** User and password of a digest login; `challenge` chooses among those the server offers. */
  readonly login?: readonly [string, string];
  readonly challenge?: number;
  readonly new_connection?: boolean;
};

/** An answer; `http` 0 means that the connection was closed instead. */
export type GoldenAnswer = {
  readonly http: number;
  readonly reason: string;
  readonly type?: string;
  readonly json?: Exact;
  readonly text?: string;
  readonly hex?: string;
  readonly raw_bytes_in_json?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
};

export type GoldenStep = {
  readonly id: string;
  readonly to: ServerName;
  readonly request: GoldenRequest;
  readonly answer: GoldenAnswer;
  /** Paths whose values differ from run to run. */
  readonly volatile?: readonly string[];
  /** The original program dies of this request. */
  readonly crashed?: boolean;
};

export type ServerFlags = {
  readonly extra?: readonly string[];
  readonly login?: string;
  readonly restricted?: boolean;
};

export type Recording = {
  readonly release: RecordedRelease;
  readonly group: GoldenGroup;
  readonly what: string;
  readonly servers: { readonly [name in ServerName]?: ServerFlags };
  readonly chain_loaded: boolean;
  readonly pool_loaded: boolean;
  readonly steps: readonly GoldenStep[];
};

/** Reads one recording. Numbers beyond 2^53 - 1 are bigint. */
export function loadRecording(group: GoldenGroup, release: RecordedRelease = "0.18.0"): Recording {
  const recorded = loadGoldenText(group, release) as ExactObject as unknown as Omit<Recording, "release">;
  return { ...recorded, release };
}

/** What a step calls: the JSON-RPC method, else the path. */
export function calledBy(step: GoldenStep): string {
  const { body, path, text } = step.request;
  if (isExactObject(body) && typeof body.method === "string") return body.method;
  if (path === "/json_rpc" && text !== undefined) return /"method": ?"([a-z_]+)"/.exec(text)?.[1] ?? path;
  return path;
}
