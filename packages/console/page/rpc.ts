/** Calls of the service this page was loaded from; what they take and give is that of the declarations. */
import type { Call, daemonMethods, TypeOf, walletMethods } from "@anulo/rpc";
import { type ExactObject, formatExact, parseExact } from "./exact-json.ts";

type ByName<G extends Readonly<Record<string, Call>>> = { [K in keyof G as G[K]["name"]]: G[K] };
type NodeCalls = ByName<typeof daemonMethods>;
type WalletCalls = ByName<typeof walletMethods>;

/** As it arrives: an integer that fits is a number. */
type Arrived<T> = T extends bigint
  ? bigint | number
  : T extends readonly (infer Item)[]
    ? readonly Arrived<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: Arrived<T[K]> }
      : T;

export type NodeAnswer<Name extends keyof NodeCalls> = Arrived<TypeOf<NodeCalls[Name]["result"]>>;
export type WalletAnswer<Name extends keyof WalletCalls> = Arrived<TypeOf<WalletCalls[Name]["result"]>>;

/** A call that the service refused or did not answer. */
export class CallFailed extends Error {
  override name = "CallFailed";
  /** Of JSON-RPC; undefined where there was no such answer. */
  readonly code: number | undefined;

  constructor(message: string, code?: number) {
    super(message);
    this.code = code;
  }
}

/** What becomes of a call: it is aborted when nobody waits for it any more. */
export type Sending = { readonly signal?: AbortSignal | undefined; readonly idempotencyKey?: string };

async function send(path: string, body: string, { signal, idempotencyKey }: Sending): Promise<ExactObject> {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (idempotencyKey !== undefined) headers["Idempotency-Key"] = idempotencyKey;
  const response = await fetch(path, {
    method: "POST",
    body,
    headers,
    signal: signal ?? null,
    redirect: "error",
  });
  if (!response.ok) throw new CallFailed(`${path}: HTTP ${response.status}`);
  const answer = parseExact(await response.text());
  if (typeof answer !== "object" || answer === null || Array.isArray(answer))
    throw new CallFailed(`${path}: the answer is no object`);
  return answer as ExactObject;
}

async function sendMethod(path: string, method: string, params: object, sending: Sending): Promise<unknown> {
  const body = formatExact({ jsonrpc: "2.0", id: 0, method, params });
  const { error, result } = await send(path, body, sending);
  if (error !== undefined) {
    const { code, message } = error as { code: number; message: string };
    throw new CallFailed(message, Number(code));
  }
  return result;
}

/** Asks the node; a name that begins with a slash is a path of its own. */
export async function askNode<Name extends keyof NodeCalls>(
  name: Name,
  params: object = {},
  sending: Sending = {},
): Promise<NodeAnswer<Name>> {
  if (!name.startsWith("/"))
    return (await sendMethod("/json_rpc", name, params, sending)) as NodeAnswer<Name>;
  const answer = await send(name, formatExact(params), sending);
  if (answer.status !== "OK") throw new CallFailed(`${name}: ${String(answer.status)}`);
  return answer as NodeAnswer<Name>;
}

/** Asks a wallet by its name, or with "" the wallet service itself. */
export async function askWallet<Name extends keyof WalletCalls>(
  wallet: string,
  name: Name,
  params: object = {},
  sending: Sending = {},
): Promise<WalletAnswer<Name>> {
  // An address takes these names for folders, which lead to the service itself.
  if (wallet === "." || wallet === "..") throw new CallFailed(`no wallet has the name "${wallet}"`);
  const path = wallet === "" ? "/json_rpc" : `/wallets/${encodeURIComponent(wallet)}/json_rpc`;
  return (await sendMethod(path, name, params, sending)) as WalletAnswer<Name>;
}
