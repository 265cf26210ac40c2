/** What a process of a fleet answers where no process can answer a call. */
import { type Answer, formatJson, type Json, type NamedRequest, parseJson } from "@anulo/rpc";
import { refusalCodes } from "../refusal.ts";

/** Maximum size of a request body (bytes) that is parsed again to read its id. */
const MOST_READ = 64 * 1024;

export const UNOWNED = "No process of the fleet has the wallet now, and nothing was done: ask again";
export const LOST =
  "The process that has the wallet is gone, and may have done what was asked: ask again, a payment by its idempotency_key only";

/** A JSON-RPC error response. */
export function refusal({ body, target, giveUp }: NamedRequest, message: string): Answer {
  // It may be longer than a response that has begun, and did not come.
  giveUp();
  if (!target.endsWith("/json_rpc")) return { status: 503, type: "text/plain", body: `${message}\n` };
  const error = { code: refusalCodes.UNOWNED, message };
  return {
    status: 200,
    type: "application/json",
    body: formatJson({ error, id: idOf(body), jsonrpc: "2.0" }),
  };
}

function idOf(body: Uint8Array): Json {
  if (body.length > MOST_READ) return 0;
  try {
    return parseJson(body).id ?? 0;
  } catch {
    return 0;
  }
}
