import { BadBytes, openPortable, type PortableObject, writePortable } from "@anulo/protocol";
import type { Call, Group } from "../define.ts";
import { BadRequest } from "../errors.ts";
import { BadJson, isJsonObject, type Json } from "../json.ts";
import type { InputOf, Reading, TypeOf } from "../schema/schema.ts";
import { parseAnswer } from "./answer-json.ts";
import { BadAnswer, RemoteError } from "./client-errors.ts";
import { type ClientOptions, createHttpClient, type HttpClient } from "./http-client.ts";

export type CallOptions = { readonly signal?: AbortSignal; readonly timeoutMs?: number };

type Arguments<C extends Call> = C["params"]["omittable"] extends true
  ? [params?: InputOf<C["params"]>, options?: CallOptions]
  : object extends InputOf<C["params"]>
    ? [params?: InputOf<C["params"]>, options?: CallOptions]
    : [params: InputOf<C["params"]>, options?: CallOptions];

/**
 * One function for each declaration. Each rejects with RemoteError (the service returned an error), BadAnswer (its
 * response is invalid) or ConnectionFailed (it did not respond). The caller has to check a `status` other than `OK`.
 */
export type Client<G extends Group> = {
  readonly [K in keyof G]: (...args: Arguments<G[K]>) => Promise<TypeOf<G[K]["result"]>>;
} & {
  /** Closes all connections for good, and aborts pending calls. */
  readonly close: () => void;
};

/** Creates a typed client of the service at `url` (`http://host:port`); it connects at the first call. */
export function createClient<G extends Group>(group: G, url: string, options: ClientOptions = {}): Client<G> {
  const http = createHttpClient(url, options);
  const functions = Object.entries(group).map(([key, call]) => [
    key,
    (params?: unknown, callOptions: CallOptions = {}) => send(http, { call, params, ...callOptions }),
  ]);
  return { ...Object.fromEntries(functions), close: http.close } as Client<G>;
}

type Sending = CallOptions & { readonly call: Call; readonly params: unknown };

const answerReading: Reading = { of: "answer" };

async function send(http: HttpClient, sending: Sending): Promise<unknown> {
  const { call } = sending;
  try {
    if (call.transport === "jsonRpc") return await sendMethod(http, sending);
    if (call.transport === "binary") return await sendBinary(http, sending);
    const body = await http.post({
      ...sending,
      path: call.name,
      body: requestText(sending),
      type: "application/json",
    });
    return call.result.read(parseAnswer(body), answerReading);
  } catch (error) {
    if (error instanceof BadRequest)
      throw new BadAnswer(call.name, `${error.path.join(".")} ${error.message}`);
    if (error instanceof BadJson || error instanceof BadBytes) throw new BadAnswer(call.name, error.message);
    throw error;
  }
}

/** Params as JSON bytes. */
function requestText({ call, params }: Sending): Buffer {
  return Buffer.from(call.params.write(params ?? call.params.absent(), "contract", ""), "latin1");
}

async function sendMethod(http: HttpClient, sending: Sending): Promise<unknown> {
  const { call } = sending;
  const head = Buffer.from(`{"jsonrpc":"2.0","id":"0","method":"${call.name}","params":`);
  const body = Buffer.concat([head, requestText(sending), Buffer.from("}")]);
  const answer = parseAnswer(
    await http.post({ ...sending, path: "/json_rpc", body, type: "application/json" }),
  );
  if (isJsonObject(answer.error)) throw remoteError(call, answer.error);
  if (answer.result === undefined) throw new BadAnswer(call.name, "neither result nor error");
  return call.result.read(answer.result, answerReading);
}

function remoteError(call: Call, { code, message }: { [key: string]: Json }): Error {
  if (typeof code !== "number" || typeof message !== "string")
    return new BadAnswer(call.name, "bad error object");
  return new RemoteError(call.name, code, message);
}

async function sendBinary(http: HttpClient, sending: Sending): Promise<unknown> {
  const { call, params } = sending;
  const entry = call.params.writePortable(params ?? call.params.absent()) as {
    readonly value: PortableObject;
  };
  const body = Buffer.from(writePortable(entry.value));
  const answer = await http.post({ ...sending, path: call.name, body, type: "application/octet-stream" });
  return call.result.readPortable(openPortable(answer), answerReading);
}
