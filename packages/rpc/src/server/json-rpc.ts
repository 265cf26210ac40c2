import { setImmediate } from "node:timers/promises";
import type { Implemented } from "../define.ts";
import { protocolErrors, type RpcError } from "../errors.ts";
import {
  BadJson,
  formatJson,
  isJsonObject,
  type Json,
  type JsonObject,
  quote,
  textOfBytes,
} from "../json.ts";
import { parseJson } from "../json-parser.ts";
import { type Answer, jsonAnswer } from "./answer.ts";
import {
  errorOf,
  findCall,
  type RequestInfo,
  type Rules,
  readParams,
  runHandler,
  visibleError,
} from "./call.ts";
import { writeLongLists } from "./long-answer.ts";

/** Most requests of one batch. */
const MAX_BATCH = 100;
/** Milliseconds of answering them before others are let go first. */
const TURN_MS = 10;

/** Answers one body of `/json_rpc`, or a batch in the contract dialect. */
export async function answerJsonRpc<Context>(
  calls: ReadonlyMap<string, Implemented<Context>>,
  body: Uint8Array,
  request: RequestInfo,
  rules: Rules<Context>,
): Promise<Answer> {
  let message: JsonObject | Json[];
  try {
    message = request.dialect === "contract" ? parseBatch(body) : parseJson(body);
  } catch (error) {
    if (!(error instanceof BadJson)) throw error;
    return jsonAnswer(errorText(0, errorOf(protocolErrors.parse)));
  }
  if (!Array.isArray(message)) return jsonAnswer(await answerMessage(calls, message, request, rules));
  if (message.length > MAX_BATCH) return jsonAnswer(errorText(0, errorOf(protocolErrors.invalidRequest)));
  const answers: string[] = [];
  let turn = performance.now();
  for (const item of message) {
    answers.push(await answerMessage(calls, isJsonObject(item) ? item : {}, request, rules));
    if (performance.now() - turn < TURN_MS) continue;
    await setImmediate();
    turn = performance.now();
  }
  return jsonAnswer(`[${answers.join(",")}]`);
}

/** A single request, or the requests of a batch. */
function parseBatch(body: Uint8Array): JsonObject | Json[] {
  const text = textOfBytes(body);
  if (!/^\s*\[/.test(text)) return parseJson(text);
  const { batch } = parseJson(`{"batch":${text}}`);
  if (!Array.isArray(batch) || batch.length === 0) throw new BadJson("bad batch");
  return batch;
}

async function answerMessage<Context>(
  calls: ReadonlyMap<string, Implemented<Context>>,
  message: JsonObject,
  request: RequestInfo,
  rules: Rules<Context>,
): Promise<string> {
  const { jsonrpc, method } = message;
  if (typeof method !== "string") return errorText(0, errorOf(protocolErrors.invalidRequest));
  if (!isAbsent(jsonrpc) && typeof jsonrpc !== "string")
    return errorText(0, errorOf(protocolErrors.invalidParams));
  const id = isAbsent(message.id) ? 0 : message.id!;
  const found = findCall(calls, method, request);
  if (found === undefined) return errorText(id, errorOf(protocolErrors.methodNotFound));
  try {
    const isList = found.call.params.kind === "list";
    const params = readParams(found.call, paramsOf(message.params, isList));
    const form = { dialect: request.dialect, indent: "  " };
    const answer = await runHandler(found, params, request, rules);
    const result = await writeLongLists(found.call.result, answer, form);
    return resultText(id, found.call.result.write(result, form.dialect, form.indent));
  } catch (error) {
    return errorText(id, visibleError(error, found.call.name, rules.log));
  }
}

function isAbsent(value: Json | undefined): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/** Params of another kind than the method's count as none, as for the original programs. */
function paramsOf(params: Json | undefined, isList: boolean): Json {
  if (isList) return Array.isArray(params) ? params : [];
  return params !== undefined && isJsonObject(params) ? params : {};
}

function resultText(id: Json, result: string): string {
  return `{\r\n  "id": ${formatJson(id, "  ")},\r\n  "jsonrpc": "2.0",\r\n  "result": ${result}\r\n}`;
}

function errorText(id: Json, { code, message }: RpcError): string {
  const error = `{\r\n    "code": ${code},\r\n    "message": ${quote(message)}\r\n  }`;
  return `{\r\n  "error": ${error},\r\n  "id": ${formatJson(id, "  ")},\r\n  "jsonrpc": "2.0"\r\n}`;
}
