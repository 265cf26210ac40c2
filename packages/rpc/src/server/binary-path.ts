import { type MaybePromise, whenFailed, whenReady } from "@anulo/limits";
import {
  BadBytes,
  httpLimits,
  openPortable,
  type PortableObject,
  writePortableInPieces,
} from "@anulo/protocol";
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

/** Responds to a binary path: request and response are portable storage; any other body gets HTTP 400. */
export function answerBinaryPath<Context>(
  implementation: Implemented<Context>,
  body: Uint8Array,
  request: RequestInfo,
  rules: Rules<Context>,
): MaybePromise<Answer> {
  const { call } = implementation;
  const { budget } = request;
  budget.checkRequest(call.cost, 0);
  const params = readBinaryParams(call, body, budget.memoryFor(call.cost));
  if (params === undefined) return badRequest;
  const answer = () => {
    const writing = { form: "portable", request, maxBytes: call.cost.responseBytes } as const;
    // Lists are created in the turn in which the handler returns, so that their source is consistent.
    const response = whenReady(budget.admit(call.cost), () =>
      whenReady(runHandler(implementation, params.value, request, rules), (value) =>
        writeLongLists(call.result, value, writing),
      ),
    );
    return whenReady(response, (value) => binaryResult(call, value));
  };
  return whenFailed(answer, (error) => {
    const refusal = visibleError(error, call, { request, log: rules.log });
    if (!(error instanceof RpcError)) return failed;
    return binaryResult(call, { ...(call.result.absent() as object), status: refusal.message });
  });
}

function readBinaryParams(call: Call, body: Uint8Array, memoryBytes: number): { value: unknown } | undefined {
  try {
    const fields = openPortable(body, { ...httpLimits, memoryBytes });
    return { value: call.params.readPortable(fields, { of: "request" }) };
  } catch (error) {
    if (error instanceof BadBytes || error instanceof BadRequest) return undefined;
    throw error;
  }
}

function binaryResult(call: Call, result: unknown): Answer {
  const entry = call.result.writePortable(result) as { readonly value: PortableObject };
  return binaryAnswer(writePortableInPieces(entry.value));
}
