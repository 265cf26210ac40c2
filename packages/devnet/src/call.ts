import { Agent, request } from "node:http";
import { type Exact, type ExactObject, formatExact, isExactObject, parseExact } from "./exact-json.ts";

/** An error object of JSON-RPC, as the service sent it. */
export class CallFailed extends Error {
  readonly code: number;
  /** The error object's message. */
  readonly reason: string;
  /** The error object's data, empty where it has none. */
  readonly data: ExactObject;

  constructor(method: string, { code, message, data }: ExactObject) {
    super(`${method}: ${String(message)} (${String(code)})`);
    this.name = "CallFailed";
    this.code = Number(code);
    this.reason = String(message);
    this.data = isExactObject(data) ? data : {};
  }
}

/** Calls a JSON-RPC method and returns its result, integers exact. Throws CallFailed on an error object. */
export async function call(url: string, method: string, params: Exact = {}): Promise<ExactObject> {
  const body = await post(`${url}/json_rpc`, { jsonrpc: "2.0", id: "0", method, params });
  if (isExactObject(body.error)) throw new CallFailed(method, body.error);
  if (!isExactObject(body.result))
    throw new Error(`${method}: neither result nor error: ${formatExact(body)}`);
  return body.result;
}

/** Sends a JSON body to a plain path and returns the answer, integers exact. */
export async function post(url: string, body: Exact = {}): Promise<ExactObject> {
  const { status, text } = await exchange(url, formatExact(body));
  if (status !== 200) throw new Error(`${url}: HTTP ${status} ${text.slice(0, 200)}`);
  const answer = parseExact(text);
  if (!isExactObject(answer)) throw new Error(`${url}: not an object: ${text.slice(0, 200)}`);
  return answer;
}

/**
 * One exchange on a connection of its own that we close, not the service: asked to close it, the original programs
 * cut long answers off.
 */
function exchange(url: string, body: string): Promise<{ status: number; text: string }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const answered = new Promise<{ status: number; text: string }>((resolve, reject) => {
    const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }),
      );
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
  return answered.finally(() => agent.destroy());
}
