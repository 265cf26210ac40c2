import { type CostLimits, type MaybePromise, TimeSlice, whenFailed, whenReady } from "@anulo/limits";
import { textSteps } from "../body-text.ts";
import { BYTES_PER_VALUE, costs } from "../costs.ts";
import type { Call, Implemented } from "../define.ts";
import type { Dialect } from "../dialect.ts";
import { protocolErrors, type RpcError } from "../errors.ts";
import { BadJson, formatJson, isJsonObject, type Json, quote } from "../json.ts";
import { jsonSteps } from "../json-parser.ts";
import { putValue } from "../schema/schema.ts";
import { textOf } from "../schema/text-bytes.ts";
import { type Answer, type Body, jsonAnswer, notAllowed } from "./answer.ts";
import { scopeRefusal } from "./bearer.ts";
import {
  errorOf,
  findCall,
  isAllowed,
  type RequestInfo,
  type Rules,
  runHandler,
  visibleError,
} from "./call.ts";
import { hasHeaderFor, headerOfBatch, withHeader } from "./idempotency-key.ts";
import { batchCost, type Limits } from "./limits.ts";
import { writeLongLists } from "./long-answer.ts";
import { parseBody, readLongParams } from "./long-request.ts";
import { isShortId } from "./message-id.ts";
import { OverBudget } from "./over-budget.ts";
import { CallerLeft } from "./request-budget.ts";
import type { AnswerThreads } from "./threads/answer-threads.ts";

export const JSON_RPC_PATH = "/json_rpc";

/** The calls of JSON-RPC on one kind of port. */
export type JsonRpcCalls<Context> = {
  readonly byName: ReadonlyMap<string, Implemented<Context>>;
  /** Maximum memory that any of them may use for its request. */
  readonly memoryBytes: number;
  readonly limits: Limits;
  /** Other threads that may answer; if left out, there are none. */
  readonly threads?: AnswerThreads | undefined;
};

/** Responds to one body of `/json_rpc`, or to a batch in the contract dialect. */
export function answerJsonRpc<Context>(
  calls: JsonRpcCalls<Context>,
  body: Uint8Array,
  request: RequestInfo,
  rules: Rules<Context>,
): MaybePromise<Answer> {
  const { limits } = calls;
  const maxValues = Math.min(calls.memoryBytes, limits.requestMemoryBytes) / BYTES_PER_VALUE;
  const { dialect } = request;
  const parsed = whenFailed<ParsedBody | undefined>(
    () => parseBody(body, request, (onValues) => bodySteps(body, { dialect, maxValues, onValues })),
    (error) => {
      if (error instanceof BadJson) return undefined;
      throw error;
    },
  );
  return whenReady(parsed, (messages) =>
    messages === undefined
      ? jsonAnswer(errorText(0, errorOf(protocolErrors.parse)))
      : answerParsed(calls, { body, ...messages }, request, rules),
  );
}

function answerParsed<Context>(
  calls: JsonRpcCalls<Context>,
  { items, values, isBatch, body }: ParsedBody & { readonly body: Uint8Array },
  request: RequestInfo,
  rules: Rules<Context>,
): MaybePromise<Answer> {
  const { limits, threads } = calls;
  if (items.length > limits.batch) return jsonAnswer(errorText(0, errorOf(protocolErrors.invalidRequest)));
  const messages = items.map((item) => readMessage(calls.byName, item, request));
  if (
    isBatch &&
    messages.some(
      (message) => "implementation" in message && hasHeaderFor(message.implementation.call, request),
    )
  )
    return jsonAnswer(errorText(0, headerOfBatch()));
  const callsOfBatch = messages.flatMap((message) =>
    "implementation" in message ? [message.implementation.call] : [],
  );
  if (!callsOfBatch.every((call) => isAllowed(call, request))) return notAllowed;
  const declared = callsOfBatch.map(({ cost }) => cost);
  const cost = isBatch ? batchCost(limits, declared) : (declared[0] ?? costOfNone(calls));
  request.budget.checkRequest(cost, values);
  const here = () => {
    const text = whenReady(request.budget.admit(cost), () =>
      isBatch ? answerBatch(messages, request, rules) : answerSingle(messages[0]!, request, rules),
    );
    return whenReady(text, jsonAnswer);
  };
  const message = messages[0]!;
  if (threads === undefined || isBatch || !("implementation" in message)) return here();
  const { implementation, params } = message;
  return threads.answer(
    { call: implementation.call, path: JSON_RPC_PATH, body, params, request },
    rules,
    here,
  );
}

/** What names no call is parsed like one, and gets a short response. */
function costOfNone<Context>({ limits, memoryBytes }: JsonRpcCalls<Context>): CostLimits {
  return { ...costs.small, requestBytes: limits.requestBytes, memoryBytes };
}

/** Indent of a result within its message. */
const INDENT = "  ";
/** Indent of an error's fields. */
const ERROR_INDENT = "    ";

/** Bytes reserved in a batch's response for rejecting one of its requests. */
const REFUSAL_BYTES = 200;

/** The response to a request by itself: an error if it would be too long. */
function answerSingle<Context>(
  message: ReadMessage<Context>,
  request: RequestInfo,
  rules: Rules<Context>,
): MaybePromise<Body> {
  const answer = () =>
    whenReady(answerMessage(message, request, rules), (body) => {
      request.budget.checkLength(body.length);
      return body;
    });
  return whenFailed<Body>(answer, (error) => {
    if (!(error instanceof OverBudget) || error.of !== "response") throw error;
    request.onError?.(error);
    const { id } = message;
    const call = "implementation" in message ? message.implementation.call : undefined;
    rules.log?.warn("rpc answer too long", { call: call?.name, request: request.id });
    return errorText(id, tooLong(call?.reads ?? true));
  });
}

function tooLong(reads: boolean): RpcError {
  const done = reads ? "; ask for less at once" : "; what was asked for may have been done";
  const { code, message } = protocolErrors.limitExceeded;
  return errorOf({ code, message: `${message}: the response would be too long${done}` });
}

/** The response to each message, as long as there is space for it; messages without space are rejected one by one. */
async function answerBatch<Context>(
  messages: readonly ReadMessage<Context>[],
  request: RequestInfo,
  rules: Rules<Context>,
): Promise<string> {
  const { budget } = request;
  const answers: string[] = [];
  const slice = new TimeSlice();
  budget.spend(messages.length * REFUSAL_BYTES);
  for (const message of messages) {
    if (slice.isOver) await slice.yield();
    if (request.caller.isGone && "implementation" in message && message.implementation.call.reads)
      throw new CallerLeft();
    try {
      const answer = await answerMessage(message, request, rules);
      budget.spend(answer.length);
      answers.push(answer instanceof Buffer ? answer.toString("latin1") : answer.toString());
    } catch (error) {
      if (!(error instanceof OverBudget) || error.of !== "response") throw error;
      answers.push(errorText(message.id, errorOf(protocolErrors.limitExceeded)));
    }
  }
  return `[${answers.join(",")}]`;
}

type ParsedBody = {
  /** The requests of a batch, or the single one. */
  readonly items: readonly Json[];
  readonly isBatch: boolean;
  readonly values: number;
};

const BATCH = /^\s*\[/;

/** Parses a single request or, in the contract dialect, the requests of a batch. */
function* bodySteps(
  body: Uint8Array,
  {
    dialect,
    maxValues,
    onValues,
  }: { dialect: Dialect; maxValues: number; onValues: (values: number) => void },
): Generator<void, ParsedBody> {
  const text = yield* textSteps(body);
  const isBatch = dialect === "contract" && BATCH.test(text);
  const { object, values } = yield* jsonSteps(isBatch ? `{"batch":${text}}` : text, maxValues, onValues);
  if (!isBatch) return { items: [object], isBatch, values };
  if (!Array.isArray(object.batch) || object.batch.length === 0) throw new BadJson("bad batch");
  return { items: object.batch, isBatch, values };
}

/** A message, parsed as far as needed before its call runs. */
type ReadMessage<Context> =
  | { readonly id: Json; readonly error: RpcError }
  | { readonly id: Json; readonly implementation: Implemented<Context>; readonly params: Json };

function readMessage<Context>(
  calls: ReadonlyMap<string, Implemented<Context>>,
  message: Json,
  request: RequestInfo,
): ReadMessage<Context> {
  if (!isJsonObject(message)) return { id: null, error: errorOf(protocolErrors.invalidRequest) };
  const { jsonrpc, method } = message;
  if (typeof method !== "string") return { id: 0, error: errorOf(protocolErrors.invalidRequest) };
  if (!isAbsent(jsonrpc) && typeof jsonrpc !== "string")
    return { id: 0, error: errorOf(protocolErrors.invalidParams) };
  const id = isAbsent(message.id) ? 0 : message.id!;
  if (!isShortId(id)) return { id: 0, error: errorOf(protocolErrors.invalidRequest) };
  const implementation = findCall(calls, method, request);
  if (implementation === undefined) return { id, error: errorOf(protocolErrors.methodNotFound) };
  const refusal = scopeRefusal(implementation.call, method, request.bearer);
  if (refusal !== undefined) return { id, error: refusal };
  return { id, implementation, params: paramsOf(message.params, implementation.call.params.kind === "list") };
}

function answerMessage<Context>(
  message: ReadMessage<Context>,
  request: RequestInfo,
  rules: Rules<Context>,
): MaybePromise<Body> {
  const { id } = message;
  if ("error" in message) return errorText(id, message.error);
  const { call } = message.implementation;
  const answer = () => {
    const params = readLongParams(call, withHeader(call, message.params, request), request);
    const result = whenReady(params, (read) => runHandler(message.implementation, read, request, rules));
    const form = { dialect: request.dialect, indent: INDENT };
    const response = whenReady(result, (value) =>
      writeLongLists(call.result, value, { form, request, maxBytes: call.cost.responseBytes }),
    );
    return whenReady(response, (value) => resultText(id, call, { value, dialect: form.dialect }));
  };
  return whenFailed<Body>(answer, (error) =>
    errorText(id, visibleError(error, call, { request, log: rules.log })),
  );
}

function isAbsent(value: Json | undefined): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/** Params of another kind than the method's count as missing, as in the original programs. */
function paramsOf(params: Json | undefined, isList: boolean): Json {
  if (isList) return Array.isArray(params) ? params : [];
  return params !== undefined && isJsonObject(params) ? params : {};
}

function resultText(id: Json, call: Call, result: { readonly value: unknown; dialect: Dialect }): Body {
  return textOf(result.dialect, (out) => {
    out.text(`{\r\n  "id": ${formatJson(id, INDENT)},\r\n  "jsonrpc": "2.0",\r\n  "result": `);
    putValue(call.result, result.value, out, INDENT);
    out.text("\r\n}");
  });
}

function errorText(id: Json, { code, message, data }: RpcError): string {
  const more = data === undefined ? "" : `\r\n    "data": ${formatJson(data, ERROR_INDENT)},`;
  const error = `{\r\n    "code": ${code},${more}\r\n    "message": ${quote(message)}\r\n  }`;
  return `{\r\n  "error": ${error},\r\n  "id": ${formatJson(id, INDENT)},\r\n  "jsonrpc": "2.0"\r\n}`;
}
