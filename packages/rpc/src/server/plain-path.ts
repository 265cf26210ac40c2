import { BYTES_PER_VALUE } from "../costs.ts";
import type { Implemented } from "../define.ts";
import type { RpcError } from "../errors.ts";
import { BadJson, formatJson } from "../json.ts";
import { parseCountedJson } from "../json-parser.ts";
import type { RecordSchema } from "../schema/composites.ts";
import type { Fields } from "../schema/schema.ts";
import { type Answer, badRequest, failed, jsonAnswer } from "./answer.ts";
import { BadParams, type RequestInfo, type Rules, readParams, runHandler, visibleError } from "./call.ts";
import { writeLongLists } from "./long-answer.ts";

/** Answers a plain path: a bare JSON object for a JSON object; a body that is none is HTTP 400. */
export async function answerPlainPath<Context>(
  found: Implemented<Context>,
  body: Uint8Array,
  request: RequestInfo,
  rules: Rules<Context>,
): Promise<Answer> {
  const { call } = found;
  try {
    const { object, values } = parseCountedJson(body, request.budget.memoryFor(call.cost) / BYTES_PER_VALUE);
    request.budget.checkRequest(call.cost, values);
    const params = readParams(call, object);
    await request.budget.admit(call.cost);
    const form = { dialect: request.dialect, indent: "" };
    const answer = await runHandler(found, params, request, rules);
    const result = await writeLongLists(call.result, answer, { form, request });
    return jsonAnswer(call.result.write(result, form.dialect, form.indent));
  } catch (error) {
    if (error instanceof BadJson || error instanceof BadParams) return badRequest;
    const refusal = visibleError(error, call, { request, log: rules.log });
    if (refusal !== error) return failed;
    return jsonAnswer(refusalText(found, refusal, request));
  }
}

/** On plain paths a refusal is a `status` that is not `OK`; the other fields are zero. */
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
