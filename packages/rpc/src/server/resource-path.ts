import { type MaybePromise, whenFailed, whenReady } from "@anulo/limits";
import { BadRequest, protocolErrors, type RpcError } from "../errors.ts";
import { formatJson } from "../json.ts";
import { HttpError, type ImplementedResource, type ResourceAnswer } from "../resource.ts";
import type { Answer } from "./answer.ts";
import { errorOf, type RequestInfo, type Rules, visibleError, whenMet } from "./call.ts";
import type { StreamAnswer } from "./event-stream.ts";
import type { RequestHead } from "./http/request-head.ts";
import { askedOf } from "./named-path.ts";
import { readQuery } from "./query-string.ts";

/** The resource that a request names. */
export type AskedResource<Context> = ImplementedResource<Context> & {
  /** The object in its path; undefined on the service's own paths. */
  readonly name: string | undefined;
  /** The text after the question mark, as it was sent. */
  readonly query: string;
};

/** Resources by path; a path that is declared twice is an error in the declarations. */
export function indexResources<Context>(
  resources: readonly ImplementedResource<Context>[],
): ReadonlyMap<string, ImplementedResource<Context>> {
  const index = new Map<string, ImplementedResource<Context>>();
  for (const implemented of resources) {
    const { path } = implemented.resource;
    if (index.has(path)) throw new Error(`declared twice: ${path}`);
    index.set(path, implemented);
  }
  return index;
}

/** Finds the resource of a target on this kind of port, or undefined. */
export function findResource<Context>(
  index: ReadonlyMap<string, ImplementedResource<Context>>,
  target: string,
  { prefix, restricted }: { readonly prefix: string | undefined; readonly restricted: boolean },
): AskedResource<Context> | undefined {
  if (index.size === 0) return undefined;
  const mark = target.indexOf("?");
  const pathEnd = mark === -1 ? target.length : mark;
  const parsedPath = askedOf(target.slice(0, pathEnd), prefix);
  const match = parsedPath && index.get(parsedPath.path);
  if (match === undefined || (restricted && match.resource.access === "unrestricted")) return undefined;
  return { ...match, name: parsedPath?.name, query: target.slice(pathEnd + 1) };
}

const NO_STORE = "Cache-Control: no-store\r\n";

/** An error as JSON. */
export function refusalAnswer(status: Answer["status"], refusal: Omit<RpcError, "name">): Answer {
  const { code, message, data } = refusal;
  const body = formatJson({ error: { code, message, ...(data !== undefined && { data }) } });
  return { status, type: "application/json", body, headers: NO_STORE };
}

const badMethod: Answer = {
  ...refusalAnswer(405, errorOf({ ...protocolErrors.invalidRequest, message: "This is read by GET" })),
  headers: "Allow: GET, HEAD\r\n",
};

/** Responds to a request for a resource. Throws errors that end the request. */
export function answerResource<Context>(
  resourceRequest: AskedResource<Context>,
  { head, request }: { readonly head: RequestHead; readonly request: RequestInfo },
  rules: Rules<Context>,
): MaybePromise<Answer | StreamAnswer> {
  const { cost, path, query } = resourceRequest.resource;
  if (head.method !== "GET" && head.method !== "HEAD") return badMethod;
  const answer = () => {
    const values = readQuery(resourceRequest.query, query);
    request.budget.checkRequest(cost, 0);
    return whenReady(request.budget.admit(cost), () => {
      rules.log?.info("call", { call: path, from: request.remoteAddress, request: request.id });
      return whenReady(rules.context(request), (context) =>
        runHandler(resourceRequest, { head, request, values, context }, rules),
      );
    });
  };
  return whenFailed<Answer | StreamAnswer>(answer, (error) =>
    refused(resourceRequest, { error, request }, rules),
  );
}

type Asking<Context> = {
  readonly head: RequestHead;
  readonly request: RequestInfo;
  readonly values: Record<string, unknown>;
  readonly context: Context;
};

function runHandler<Context>(
  { resource, handler }: AskedResource<Context>,
  { head: { accept, lastEventId }, request, values, context }: Asking<Context>,
  rules: Rules<Context>,
): MaybePromise<Answer | StreamAnswer> {
  const ended = new AbortController();
  const signal = AbortSignal.any([request.caller.signal, ended.signal]);
  const release = () => rules.release?.(context);
  const answer = whenFailed<ResourceAnswer>(
    () =>
      whenMet(resource.needs, { context, rules }, () =>
        handler(context, values, { accept, lastEventId, signal }),
      ),
    (error) => {
      release();
      throw error;
    },
  );
  return whenReady(answer, (response): Answer | StreamAnswer => {
    if (!("events" in response)) {
      release();
      return plainAnswer(response);
    }
    return {
      events: response.events,
      longest: resource.cost.responseBytes,
      onFailure: (error) => rules.log?.error("rpc stream failed", { call: resource.path, error }),
      onEnd: () => {
        ended.abort();
        release();
      },
    };
  });
}

function plainAnswer(response: Exclude<ResourceAnswer, { readonly events: unknown }>): Answer {
  const { status = 200 } = response;
  if ("json" in response)
    return { status, type: "application/json", body: formatJson(response.json), headers: NO_STORE };
  return { status, type: response.type, body: Buffer.from(response.text, "utf8"), headers: NO_STORE };
}

function refused<Context>(
  { resource: { path } }: AskedResource<Context>,
  { error, request }: { readonly error: unknown; readonly request: RequestInfo },
  { log }: Rules<Context>,
): Answer {
  if (error instanceof BadRequest) {
    const { code } = protocolErrors.invalidParams;
    return refusalAnswer(400, errorOf({ code, message: [...error.path, error.message].join(": ") }));
  }
  const refusal = visibleError(error, { name: path }, { request, log });
  if (refusal !== error) return refusalAnswer(500, refusal);
  return refusalAnswer(refusal instanceof HttpError ? refusal.status : 400, refusal);
}
