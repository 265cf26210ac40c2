import type { CallRow, CallTable, CallTypes } from "./call-table.ts";
import { BadAnswer, type ErrorContext, type ErrorKind, RpcError } from "./errors.ts";
import { formatJson, isJsonObject, type Json, type JsonObject, parseJson } from "./json.ts";
import { repeat } from "./repeat.ts";
import { BadShape, parseShape, readAs, type Shape } from "./shape.ts";
import type { CallOptions, ClientOptions, Transport } from "./transport.ts";

/** Params may be left out if all of them are optional. */
type Arguments<P> = object extends P
  ? [params?: P, options?: CallOptions]
  : undefined extends P
    ? [params?: P, options?: CallOptions]
    : [params: P, options?: CallOptions];

/**
 * A function for each call. Each rejects with RpcError (the service returned an error), HttpError, BadAnswer (its
 * response is invalid), ConnectionFailed (it did not respond), or the reason of the caller's signal.
 */
export type Functions<Calls extends CallTypes<Calls>> = {
  readonly [K in keyof Calls]: (...args: Arguments<Calls[K]["params"]>) => Promise<Calls[K]["result"]>;
};

export type Service = {
  readonly transport: Transport;
  /** Path of JSON-RPC, and prefix of the paths of plain calls. */
  readonly prefix: string;
  readonly table: CallTable;
  readonly kinds: ReadonlyMap<number, ErrorKind>;
  readonly options: ClientOptions;
  /** Whether payments get idempotency keys. */
  readonly makesKeys: boolean;
};

/** Creates these functions for a service. */
export function createFunctions<Calls extends CallTypes<Calls>>(service: Service): Functions<Calls> {
  const functions = Object.entries(service.table).map(([key, row]) => {
    const shapeOf = once(() => parseShape(row[2]));
    return [
      key,
      (params?: object, options: CallOptions = {}) => callSafely(service, { row, shapeOf, params, options }),
    ];
  });
  return Object.fromEntries(functions) as Functions<Calls>;
}

function once<T>(make: () => T): () => T {
  let value: T | undefined;
  return () => {
    value ??= make();
    return value;
  };
}

type Calling = {
  readonly row: CallRow;
  readonly shapeOf: () => Shape;
  readonly params: object | undefined;
  readonly options: CallOptions;
};

/** Repeats a call without response if that is safe: it only reads, or the service recognises payments by their keys. */
async function callSafely(service: Service, calling: Calling): Promise<unknown> {
  const [name, flags] = calling.row;
  const params = flags.includes("k") && service.makesKeys ? withKey(calling.params) : calling.params;
  const idempotencyKey = flags.includes("k") ? (params as Keyed | undefined)?.idempotency_key : undefined;
  const context = { call: name, idempotencyKey };
  const { signal } = calling.options;
  return await repeat(() => callOnce(service, { ...calling, params, context }), {
    retries: service.options.retries ?? 2,
    signal,
    maySend: () => {
      if (flags.includes("r")) return true;
      return idempotencyKey !== undefined && knowsKeys(service, idempotencyKey, calling.options);
    },
  });
}

type Keyed = { readonly idempotency_key?: string; readonly do_not_relay?: boolean };

/** A payment that is not sent at once gets no generated key. */
function withKey(params: object | undefined): object | undefined {
  if ((params as Keyed | undefined)?.do_not_relay === true) return params;
  return { ...params, idempotency_key: (params as Keyed | undefined)?.idempotency_key ?? createKey() };
}

function createKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const NO_SUCH_INTENT = -404;

/**
 * Whether a payment can be repeated with its key. Only the service's response for this key proves that: the original
 * program ignores keys, and would pay again. A client without a wallet's name needs the key to be found: another
 * wallet may be open by now, which does not know it and would pay too.
 */
async function knowsKeys(service: Service, key: string, options: CallOptions): Promise<boolean> {
  const row = service.table.getIntent;
  if (row === undefined) return false;
  const calling = { row, shapeOf: () => parseShape(row[2]), params: { idempotency_key: key }, options };
  try {
    await callOnce(service, { ...calling, context: { call: row[0] } });
    return true;
  } catch (error) {
    options.signal?.throwIfAborted();
    return error instanceof RpcError && error.code === NO_SUCH_INTENT && service.prefix !== "";
  }
}

async function callOnce(service: Service, calling: Calling & { context: ErrorContext }): Promise<unknown> {
  const { row, shapeOf, params, options, context } = calling;
  const [name, flags, , fixed] = row;
  const withDefault = params ?? (flags.includes("l") ? [] : {});
  const sent = formatJson(fixed === undefined ? withDefault : { ...withDefault, ...fixed });
  const isPath = name.startsWith("/");
  const text = await service.transport.text({
    ...options,
    context,
    method: "POST",
    path: `${service.prefix}${isPath ? name : "/json_rpc"}`,
    body: isPath ? sent : `{"jsonrpc":"2.0","id":"0","method":"${name}","params":${sent}}`,
    headers: { "Content-Type": "application/json" },
  });
  const answer = parseAnswer(text, context);
  const result = isPath ? answer : resultOf(answer, { ...context, kinds: service.kinds });
  try {
    return readAs(shapeOf(), result);
  } catch (error) {
    throw error instanceof BadShape ? new BadAnswer(error.message, context) : error;
  }
}

/** Parses a response as a JSON object; throws BadAnswer. */
export function parseAnswer(text: string, context: ErrorContext): JsonObject {
  try {
    const answer = parseJson(text);
    if (isJsonObject(answer)) return answer;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new BadAnswer("not a JSON object", context);
}

function resultOf(answer: JsonObject, context: ErrorContext & { kinds: Service["kinds"] }): Json {
  const { error, result } = answer;
  if (isJsonObject(error)) {
    const { code, message, data } = error;
    if (typeof code !== "number" || typeof message !== "string")
      throw new BadAnswer("an error object without code or message", context);
    throw new RpcError({ code, message, ...(data !== undefined && { data }) }, context);
  }
  if (result === undefined) throw new BadAnswer("neither result nor error", context);
  return result;
}
