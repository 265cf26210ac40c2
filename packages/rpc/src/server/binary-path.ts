import { BadBytes, type PortableObject, readPortable, writePortable } from "@anulo/protocol";
import type { Call, Implemented } from "../define.ts";
import { BadRequest, RpcError } from "../errors.ts";
import { type Answer, badRequest, binaryAnswer, failed } from "./answer.ts";
import { type RequestInfo, type Rules, runHandler, visibleError } from "./call.ts";
import { writeLongLists } from "./long-answer.ts";

const SIGNATURE = Buffer.from([0x01, 0x11, 0x01, 0x01, 0x01, 0x01, 0x02, 0x01, 0x01]);

/** True for a body in portable storage. */
export function isBinaryBody(body: Uint8Array): boolean {
  return SIGNATURE.equals(body.subarray(0, SIGNATURE.length));
}

/** Answers a binary path: portable storage for portable storage; a body that is none is HTTP 400. */
export async function answerBinaryPath<Context>(
  found: Implemented<Context>,
  body: Uint8Array,
  request: RequestInfo,
  rules: Rules<Context>,
): Promise<Answer> {
  const { call } = found;
  const params = readBinaryParams(call, body);
  if (params === undefined) return badRequest;
  try {
    const result = await runHandler(found, params.value, request, rules);
    return binaryResult(call, await writeLongLists(call.result, result, "portable"));
  } catch (error) {
    const refusal = visibleError(error, call.name, rules.log);
    if (!(error instanceof RpcError)) return failed;
    return binaryResult(call, { ...(call.result.absent() as object), status: refusal.message });
  }
}

function readBinaryParams(call: Call, body: Uint8Array): { value: unknown } | undefined {
  try {
    const entry = { type: "object", value: readPortable(body) } as const;
    return { value: call.params.readPortable(entry, { of: "request" }) };
  } catch (error) {
    if (error instanceof BadBytes || error instanceof BadRequest) return undefined;
    throw error;
  }
}

function binaryResult(call: Call, result: unknown): Answer {
  const entry = call.result.writePortable(result) as { readonly value: PortableObject };
  return binaryAnswer(writePortable(entry.value));
}
