import { type MaybePromise, whenFailed, whenReady } from "@anulo/limits";
import { textSteps } from "../body-text.ts";
import { BYTES_PER_VALUE } from "../costs.ts";
import type { Implemented } from "../define.ts";
import type { RpcError } from "../errors.ts";
import { BadJson, formatJson } from "../json.ts";
import { jsonSteps } from "../json-parser.ts";
import type { RecordSchema } from "../schema/composites.ts";
import { type Fields, putValue } from "../schema/schema.ts";
import { textOf } from "../schema/text-bytes.ts";
import { type Answer, badRequest, failed, jsonAnswer } from "./answer.ts";
import { BadParams, type RequestInfo, type Rules, runHandler, visibleError } from "./call.ts";
import { writeLongLists } from "./long-answer.ts";
import { parseBody, readLongParams } from "./long-request.ts";

/** Responds to a plain path: request and response are bare JSON objects; any other body gets HTTP 400. */
export function answerPlainPath<Context>(
  implementation: Implemented<Context>,
  body: Uint8Array,
  request: RequestInfo,
  rules: Rules<Context>,
): MaybePromise<Answer> {
  const { call } = implementation;
  const { budget, dialect } = request;
  const maxValues = budget.memoryFor(call.cost) / BYTES_PER_VALUE;
  const parse = () => parseBody(body, request, (onValues) => bodySteps(body, maxValues, onValues));
  const respond = (params: unknown) => {
    const form = { dialect, indent: "" };
    // Lists are created in the turn in which the handler returns, so that their source is consistent.
    const response = whenReady(budget.admit(call.cost), () =>
      whenReady(runHandler(implementation, params, request, rules), (value) =>
        writeLongLists(call.result, value, { form, request, maxBytes: call.cost.responseBytes }),
      ),
    );
    return whenReady(response, (value) =>
      jsonAnswer(textOf(dialect, (out) => putValue(call.result, value, out, ""))),
    );
  };
  const answer = () =>
    whenReady(parse(), ({ object, values }) => {
      budget.checkRequest(call.cost, values);
      return whenReady(readLongParams(call, object, request), respond);
    });
  return whenFailed(answer, (error) => {
    if (error instanceof BadJson || error instanceof BadParams) return badRequest;
    const refusal = visibleError(error, call, { request, log: rules.log });
    if (refusal !== error) return failed;
    return jsonAnswer(refusalText(implementation, refusal, request));
  });
}

function* bodySteps(body: Uint8Array, maxValues: number, onValues: (values: number) => void) {
  return yield* jsonSteps(yield* textSteps(body), maxValues, onValues);
}

/** On plain paths an error is a `status` other than `OK`; the other fields are zero. */
function refusalText<Context>(
  { call, handler }: Implemented<Context>,
  refusal: RpcError,
  request: RequestInfo,
): string {
  const status = { status: refusal.message, untrusted: false };
  const { fields } = call.result as RecordSchema<Fields>;
  if (handler === undefined || fields?.status === undefined) return formatJson(status);
  return call.result.write({ ...(call.result.absent() as object), ...status }, request.dialect, "");
}
