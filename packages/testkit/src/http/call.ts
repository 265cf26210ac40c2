import { type Exact, type ExactObject, formatExact, isExactObject, parseExact } from "../exact-json.ts";

/** An error object of JSON-RPC, as the service sent it. */
export class CallFailed extends Error {
  readonly code: number;

  constructor(method: string, code: number, message: string) {
    super(`${method}: ${message} (${code})`);
    this.name = "CallFailed";
    this.code = code;
  }
}

/** Calls a JSON-RPC method and returns its result, integers exact. Throws CallFailed on an error object. */
export async function call(url: string, method: string, params: Exact = {}): Promise<ExactObject> {
  const body = await post(`${url}/json_rpc`, { jsonrpc: "2.0", id: "0", method, params });
  if (isExactObject(body.error))
    throw new CallFailed(method, Number(body.error.code), String(body.error.message));
  if (!isExactObject(body.result))
    throw new Error(`${method}: neither result nor error: ${formatExact(body)}`);
  return body.result;
}

/** Sends a JSON body to a plain path and returns the answer, integers exact. */
export async function post(url: string, body: Exact = {}): Promise<ExactObject> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Connection: "close" },
    body: formatExact(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url}: HTTP ${response.status} ${text.slice(0, 200)}`);
  const answer = parseExact(text);
  if (!isExactObject(answer)) throw new Error(`${url}: not an object: ${text.slice(0, 200)}`);
  return answer;
}
