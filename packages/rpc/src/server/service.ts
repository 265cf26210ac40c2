import { type MaybePromise, whenReady } from "@anulo/limits";
import { costs } from "../costs.ts";
import type { Call, Implemented } from "../define.ts";
import type { Dialect } from "../dialect.ts";
import type { DigestAuth } from "../digest-auth.ts";
import type { RpcError } from "../errors.ts";
import type { Logger } from "../log/logger.ts";
import { createDocument, discover, openRpcResource, type ServiceInfo } from "../openrpc.ts";
import type { Pages } from "../pages.ts";
import { ALIVE_PATH, type CheckedPass, isBodyOf } from "../peers/pass.ts";
import type { ReadRequest } from "../peers/read-frames.ts";
import type { ServiceReference } from "../reference/service-reference.ts";
import type { ImplementedResource } from "../resource.ts";
import { type Admission, admittedAnswer, type HeldAnswer } from "./admission.ts";
import { type Answer, misdirected, notAllowed, notFound, tooLarge } from "./answer.ts";
import {
  type Bearer,
  bearerChallenge,
  scopeRefusal,
  type TokenAuth,
  tokenOf,
  wrongWallet,
} from "./bearer.ts";
import { answerBinaryPath, isBinaryBody } from "./binary-path.ts";
import { findCall, indexCalls, isAllowed, type RequestInfo, type Rules } from "./call.ts";
import type { Caller, CallerShare } from "./caller-share.ts";
import type { Elsewhere, InternalTarget, NamedRequest } from "./elsewhere.ts";
import type { StreamAnswer } from "./event-stream.ts";
import { pageFaultOf } from "./foreign-page.ts";
import type { HttpService } from "./http/connection.ts";
import type { HttpAnswer } from "./http/http-answer.ts";
import type { RequestHead } from "./http/request-head.ts";
import { answerJsonRpc, JSON_RPC_PATH } from "./json-rpc.ts";
import type { Limits } from "./limits.ts";
import { askedOf } from "./named-path.ts";
import { answerPage, findPage } from "./page-path.ts";
import { answerPlainPath } from "./plain-path.ts";
import { ReadPort } from "./read-port.ts";
import { RequestBudget } from "./request-budget.ts";
import { answerResource, findResource, indexResources, refusalAnswer } from "./resource-path.ts";
import {
  challengeAnswer,
  forbiddenAnswer,
  httpAnswer,
  type Origins,
  optionsAnswer,
  streamAnswer,
  switchAnswer,
} from "./response.ts";
import type { AnswerThreads } from "./threads/answer-threads.ts";

/** Handles requests to the paths of a service. */
export interface Answerer {
  answer(path: string, body: Uint8Array, request: RequestInfo): MaybePromise<Answer>;
  /** Maximum size (bytes) of the body of a request to a path. */
  requestBytesOf(path: string): number;
  /** The resource of a target on this kind of port, or undefined. */
  findResource(target: string, restricted: boolean): FoundResource | undefined;
}

/** The resource that a request names. */
type FoundResource = {
  /** The object in its path. */
  readonly name: string | undefined;
  readonly requestBytes: number;
  /** The error for a token that does not allow it. */
  refusalOf(bearer: Bearer): RpcError | undefined;
  answer(head: RequestHead, request: RequestInfo): MaybePromise<Answer | StreamAnswer>;
};

/** The calls and resources of a service. */
type Declared<Context> = {
  readonly calls: readonly Implemented<Context>[];
  readonly resources: readonly ImplementedResource<Context>[];
};

type AnswererOptions<Context> = {
  readonly rules: Rules<Context>;
  readonly info: ServiceInfo;
  /** Prefix of named paths; if left out, there are none. */
  readonly prefix?: string | undefined;
  /** Loads what the OpenRPC document says beside the declarations. */
  readonly reference?: (() => Promise<ServiceReference>) | undefined;
  /** Limits of the owner's ports, and of those for strangers. */
  readonly limits: { readonly owner: Limits; readonly strangers: Limits };
  /** Other threads that may answer requests; if left out, all are answered in this one. */
  readonly threads?: AnswerThreads | undefined;
};

/** Creates an object that finds the call or resource of a request and handles the request. */
export function createAnswerer<Context>(
  { calls, resources }: Declared<Context>,
  { rules, info, limits, prefix, reference, threads }: AnswererOptions<Context>,
): Answerer {
  const document = createDocument(calls, info, {
    prefix,
    resources: resources.map(({ resource }) => resource),
    loadReference: reference,
  });
  const all: Implemented<Context>[] = [...calls, { call: discover, handler: document }];
  const byName = indexCalls(all, ({ transport }) => transport === "jsonRpc");
  const paths = indexCalls(calls, ({ transport }) => transport !== "jsonRpc");
  const byGet = { resource: openRpcResource, handler: async () => jsonText(await document()) };
  const atPath = indexResources<Context>([...resources, byGet]);
  for (const path of atPath.keys()) if (paths.has(path)) throw new Error(`declared twice: ${path}`);
  const owners = { byName, memoryBytes: memoryOf(byName, false), limits: limits.owner, threads };
  const strangers = { byName, memoryBytes: memoryOf(byName, true), limits: limits.strangers, threads };
  return {
    requestBytesOf: (path) => paths.get(path)?.call.cost.requestBytes ?? Number.POSITIVE_INFINITY,
    findResource(target, restricted) {
      const match = findResource(atPath, target, { prefix, restricted });
      if (match === undefined) return undefined;
      return {
        name: match.name,
        requestBytes: match.resource.cost.requestBytes,
        refusalOf: (bearer) => scopeRefusal(match.resource, match.resource.path, bearer),
        answer: (head, request) => answerResource(match, { head, request }, rules),
      };
    },
    answer(path, body, request) {
      if (path === JSON_RPC_PATH) {
        return answerJsonRpc(request.restricted ? strangers : owners, body, request, rules);
      }
      const implementation = findCall(paths, path, request);
      if (implementation === undefined) return notFound;
      if (!isAllowed(implementation.call, request)) return notAllowed;
      const refusal = scopeRefusal(implementation.call, path, request.bearer);
      if (refusal !== undefined) return refusalAnswer(403, refusal);
      const { call } = implementation;
      const answer = isBinary(call, body) ? answerBinaryPath : answerPlainPath;
      const here = () => answer(implementation, body, request, rules);
      return threads === undefined ? here() : threads.answer({ call, path, body, request }, rules, here);
    },
  };
}

const jsonText = ({ text }: { readonly text: string }) => ({ text, type: "application/json" as const });

/** Memory that a request may use before its call is known. */
function memoryOf(calls: ReadonlyMap<string, Implemented<never>>, restricted: boolean): number {
  let most = 0;
  for (const { call } of calls.values()) {
    if (!restricted || call.access === "restricted-ok") most = Math.max(most, call.cost.memoryBytes);
  }
  return most;
}

function isBinary(call: Call, body: Uint8Array): boolean {
  if (call.transport === "binary") return true;
  return call.transport === "json" && call.alsoBinary === true && isBinaryBody(body);
}

/** The state that all ports of a service share. */
export type Service = {
  readonly answerer: Answerer;
  readonly auth: DigestAuth | undefined;
  /** Undefined if no tokens are accepted. */
  readonly tokens: TokenAuth | undefined;
  /** Prefix of named paths; undefined if there are none. */
  readonly prefix: string | undefined;
  readonly dialect: Dialect;
  /** Whether a kind of port serves no requests from this address. */
  readonly isShutOut: (remoteAddress: string, restricted: boolean) => boolean;
  /** The id of a request with this header X-Request-Id. */
  readonly nameRequest: (header: string | undefined) => string;
  readonly log: Logger;
  readonly origins: Origins;
  /** Web pages for the owner. */
  readonly pages: Pages;
  readonly elsewhere: Elsewhere | undefined;
  readonly owner: CallerShare;
  readonly strangers: CallerShare;
};

/** HTTP methods that the services accept; the original closes the connection on any other. */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]);
const noBody = new Uint8Array(0);

/** The HTTP service on one port. */
export function createHttpService(
  service: Service,
  { restricted, isForPeers }: { readonly restricted: boolean; readonly isForPeers: boolean },
): Omit<HttpService, "closed"> {
  const { answerer, origins, dialect, prefix } = service;
  const hasLogin = service.auth !== undefined || service.tokens !== undefined;
  const share = restricted ? service.strangers : service.owner;
  const { limits } = share;
  const pageAt = (target: string) => (restricted || isForPeers ? undefined : findPage(service.pages, target));
  const passes = new WeakMap<RequestHead, CheckedPass>();
  return {
    limits,
    open: (remoteAddress) => share.open(remoteAddress),
    requestBytesOf({ target }) {
      const internal = isForPeers ? service.elsewhere?.internalAt?.(target) : undefined;
      if (internal !== undefined) return internal.requestBytes;
      if (pageAt(target) !== undefined) return 0;
      const most =
        answerer.findResource(target, restricted)?.requestBytes ??
        answerer.requestBytesOf(askedOf(target, prefix)?.path ?? "");
      return Math.min(limits.requestBytes, most);
    },
    screen(head, caller) {
      const { remoteAddress } = caller;
      if (!methods.has(head.method) || service.isShutOut(remoteAddress, restricted)) return "cut";
      if (isForPeers) {
        const pass = service.elsewhere?.passOf(head);
        if (pass === undefined) return "cut";
        if (pass === "misdirected") return httpAnswer(head, misdirected, origins);
        passes.set(head, pass);
        return undefined;
      }
      const isFile = pageAt(head.target) !== undefined;
      const fault = pageFaultOf(head, { origins, hasLogin, restricted, isFile });
      if (fault !== undefined) return forbiddenAnswer(head, fault, origins);
      if (head.method === "OPTIONS") return optionsAnswer(head, origins);
      const sender = senderOf(service, head);
      if (typeof sender === "string" && sender !== "owner") return challengeOf(service, head, sender);
      const bearer = sender === "owner" ? undefined : sender;
      share.identify(caller, bearer?.id);
      const refusal = bearer && pathRefusal(service, head, { bearer, restricted });
      return refusal && httpAnswer(head, refusalAnswer(403, refusal), origins);
    },
    answer(head, body, caller) {
      const bearer = bearerOf(service, head);
      // The token was revoked while the body arrived.
      if (bearer === "refused") return challengeOf(service, head, bearer);
      const isContract = dialect === "contract";
      const pass = passes.get(head);
      if (pass !== undefined && body !== "too large" && !isBodyOf(pass, body)) return undefined;
      if (pass !== undefined && head.target === ALIVE_PATH) return httpAnswer(head, alive, origins);
      if (pass?.linkKey !== undefined) return openReadPort(service, share, pass);
      if (body === "too large") return isContract ? httpAnswer(head, tooLarge, origins) : undefined;
      // The original does not support chunks: such a request has no body to it.
      const bodyBytes = head.length !== undefined || isContract ? body : noBody;
      // A page is in memory anyway, so its response need not be admitted.
      const page = pageAt(head.target);
      if (page !== undefined) return httpAnswer(head, answerPage(head.method, page), origins);
      const internal = pass && service.elsewhere?.internalAt?.(head.target);
      if (internal !== undefined)
        return answerInternal(service, { head, body: bodyBytes, pass: pass!, caller, share, internal });
      const resource = answerer.findResource(head.target, restricted);
      const named = resource === undefined ? askedOf(head.target, prefix) : undefined;
      const match = resource ?? named;
      if (match === undefined) return httpAnswer(head, notFound, origins);
      const { name } = match;
      const budget = new RequestBudget(caller, bodyBytes.length);
      const mayAct = pass?.mayAct ?? (head.method === "POST" || hasLogin);
      const request: RequestInfo = {
        dialect,
        restricted: restricted || pass?.restricted === true,
        mayAct,
        remoteAddress: caller.remoteAddress,
        id: service.nameRequest(head.requestId),
        name,
        idempotencyKey: head.idempotencyKey,
        bearer,
        caller,
        budget,
      };
      const here = () => resource?.answer(head, request) ?? answerer.answer(named!.path, bodyBytes, request);
      const { elsewhere } = service;
      // Only this process knows what the token allows: another process would take its bearer for the owner.
      const answer =
        elsewhere === undefined || named?.name === undefined || bearer !== undefined
          ? here
          : () => {
              const forward = namedRequest(head, {
                request,
                body: bodyBytes,
                isPassedOn: pass !== undefined,
              });
              return whenReady(elsewhere.answer(forward), (response) => response ?? here());
            };
      return answerWithin(service, head, { answer, request, share, caller });
    },
  };
}

/** The owner of the request's token; undefined if it has none, or if tokens are not accepted. */
function bearerOf({ tokens }: Service, { authorization }: RequestHead): Bearer | "refused" | undefined {
  const token = tokens && tokenOf(authorization);
  return token === undefined ? undefined : (tokens!.check(token) ?? "refused");
}

/** The sender of a request: the owner of a token, or a user with the login, if there is one. */
function senderOf(service: Service, head: RequestHead): Bearer | "owner" | "refused" | "stale" {
  const { auth, tokens } = service;
  const bearer = bearerOf(service, head);
  if (bearer !== undefined) return bearer;
  if (auth === undefined) return tokens === undefined ? "owner" : "refused";
  const { method, target: url, authorization } = head;
  const verdict = auth.check({ method, url, authorization });
  return verdict === "ok" ? "owner" : verdict;
}

function challengeOf(service: Service, head: RequestHead, verdict: "refused" | "stale"): HttpAnswer {
  const { auth, tokens, origins } = service;
  const challenges = [
    ...(auth?.challenge(verdict === "stale") ?? []),
    ...(tokens === undefined ? [] : [bearerChallenge(head.authorization)]),
  ];
  return challengeAnswer(head, challenges, origins);
}

/**
 * The error that follows from the path alone: the token does not cover the wallet in it, or does not allow the
 * resource.
 */
function pathRefusal(
  { answerer, prefix }: Service,
  { target }: RequestHead,
  { bearer, restricted }: { readonly bearer: Bearer; readonly restricted: boolean },
): RpcError | undefined {
  const resource = answerer.findResource(target, restricted);
  const name = resource === undefined ? askedOf(target, prefix)?.name : resource.name;
  if (name === undefined || bearer.mayUse(name)) return resource?.refusalOf(bearer);
  bearer.onRefused("wallet");
  return wrongWallet();
}

/** Responds that this process lives, without waiting for memory or a turn: others give it up if it does not respond. */
const alive: Answer = { status: 200, type: "text/plain", body: "alive\n" };

/** The cost of a response from another process: it is passed on whole. */
const passedOnCost = { ...costs.small, requestBytes: Number.POSITIVE_INFINITY };

function namedRequest(
  { method, target }: Pick<RequestHead, "method" | "target">,
  input: { readonly request: RequestInfo; readonly body: Uint8Array; readonly isPassedOn: boolean },
): NamedRequest {
  const { request, body, isPassedOn } = input;
  const { name = "", id, mayAct, restricted, idempotencyKey, caller, budget } = request;
  return {
    name,
    id,
    method,
    target,
    body,
    mayAct,
    restricted,
    idempotencyKey,
    isPassedOn,
    get signal() {
      return caller.leftSignal;
    },
    admit: (bytes) => budget.admit({ ...passedOnCost, responseBytes: bytes }),
    giveUp: () => budget.end(),
  };
}

type Internal = Pick<Admission, "share" | "caller"> & {
  readonly head: RequestHead;
  readonly body: Uint8Array;
  readonly pass: CheckedPass;
  readonly internal: InternalTarget;
};

/** What another process has asked for, beside calls: counted and bounded as a call is. */
function answerInternal(
  service: Service,
  { head, body, pass, caller, share, internal }: Internal,
): MaybePromise<HttpAnswer | undefined> {
  const { restricted, mayAct } = pass;
  const { requestBytes, responseBytes } = internal;
  const budget = new RequestBudget(caller, body.length);
  const request: RequestInfo = {
    dialect: service.dialect,
    restricted,
    mayAct,
    remoteAddress: caller.remoteAddress,
    id: service.nameRequest(head.requestId),
    name: undefined,
    idempotencyKey: undefined,
    bearer: undefined,
    caller,
    budget,
  };
  const answer = () =>
    whenReady(budget.admit({ ...costs.small, requestBytes, responseBytes }), () =>
      internal.answer(body, { signal: caller.leftSignal, restricted }),
    );
  return answerWithin(service, head, { answer, request, share, caller });
}

/** Opens the connection that begins with this pass to reads of other processes. */
function openReadPort(service: Service, share: CallerShare, pass: CheckedPass): HttpAnswer {
  const answer = (read: ReadRequest, caller: Caller) => answerRead(service, { read, caller, share, pass });
  return switchAnswer((socket) => new ReadPort(socket, { share, key: pass.linkKey!, answer }));
}

/**
 * The response to a read that another process passes on. A call that is no read gets the response to one that any web
 * page could have sent (`notAllowed`), and nothing is done.
 */
function answerRead(
  service: Service,
  {
    read,
    caller,
    share,
    pass,
  }: Pick<Admission, "caller" | "share"> & { readonly read: ReadRequest; readonly pass: CheckedPass },
): MaybePromise<HeldAnswer | undefined> {
  const { answerer, elsewhere, prefix, dialect } = service;
  const { target, body } = read;
  const named = askedOf(target, prefix);
  if (named?.name === undefined || elsewhere === undefined) return { answer: notFound, hold: undefined };
  const request: RequestInfo = {
    dialect,
    restricted: pass.restricted || read.kind === "restricted",
    mayAct: false,
    remoteAddress: caller.remoteAddress,
    id: service.nameRequest(read.id),
    name: named.name,
    idempotencyKey: undefined,
    bearer: undefined,
    caller,
    budget: new RequestBudget(caller, body.length),
  };
  const forward = namedRequest({ method: "POST", target }, { request, body, isPassedOn: true });
  const answer = () =>
    whenReady(
      elsewhere.answer(forward),
      (response) => response ?? answerer.answer(named.path, body, request),
    );
  return whenReady(admittedAnswer(service.log, { target, answer, request, share, caller }), (response) => {
    if (response !== undefined && "stream" in response) throw new Error("a named path has no streams");
    return response;
  });
}

/** The response as HTTP with its memory, or undefined if the connection is to be cut. */
function answerWithin(
  service: Service,
  head: RequestHead,
  admission: Omit<Admission, "target">,
): MaybePromise<HttpAnswer | undefined> {
  const { origins } = service;
  return whenReady(admittedAnswer(service.log, { target: head.target, ...admission }), (response) => {
    if (response === undefined) return undefined;
    if ("stream" in response) return streamAnswer(head, response.stream, origins);
    return httpAnswer(head, response.answer, origins, response.hold);
  });
}
