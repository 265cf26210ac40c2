import type { Call, Implemented } from "../define.ts";
import type { Dialect } from "../dialect.ts";
import type { DigestAuth } from "../digest-auth.ts";
import type { Logger } from "../log/logger.ts";
import { discover, openRpcDocument, type ServiceInfo } from "../openrpc.ts";
import { type Answer, failed, notFound, overloaded, tooLarge } from "./answer.ts";
import { answerBinaryPath, isBinaryBody } from "./binary-path.ts";
import { findCall, indexCalls, type RequestInfo, type Rules } from "./call.ts";
import { isOfForeignPage } from "./foreign-page.ts";
import type { HttpService } from "./http/connection.ts";
import type { RequestHead } from "./http/request-head.ts";
import { answerJsonRpc } from "./json-rpc.ts";
import type { Limits } from "./limits.ts";
import { answerPlainPath } from "./plain-path.ts";
import { challengeAnswer, forbiddenAnswer, httpAnswer, type Origins, optionsAnswer } from "./response.ts";

/** Answers the body of a request to a path. */
export type Answerer = (path: string, body: Uint8Array, request: RequestInfo) => Promise<Answer>;

/** Finds the call a request asks for and answers it. */
export function createAnswerer<Context>(
  calls: readonly Implemented<Context>[],
  rules: Rules<Context>,
  info: ServiceInfo,
): Answerer {
  const document = openRpcDocument(calls, info);
  const all: Implemented<Context>[] = [...calls, { call: discover, handler: () => document }];
  const methods = indexCalls(all, ({ transport }) => transport === "jsonRpc");
  const paths = indexCalls(calls, ({ transport }) => transport !== "jsonRpc");
  return async (path, body, request) => {
    if (path === "/json_rpc") return answerJsonRpc(methods, body, request, rules);
    const found = findCall(paths, path, request);
    if (found === undefined) return notFound;
    const answer = isBinary(found.call, body) ? answerBinaryPath : answerPlainPath;
    return answer(found, body, request, rules);
  };
}

function isBinary(call: Call, body: Uint8Array): boolean {
  if (call.transport === "binary") return true;
  return call.transport === "json" && call.alsoBinary === true && isBinaryBody(body);
}

/** What all ports of a service share. */
export type Service = {
  readonly answerer: Answerer;
  readonly auth: DigestAuth | undefined;
  readonly dialect: Dialect;
  readonly isShutOut: (remoteAddress: string) => boolean;
  readonly limits: Limits;
  readonly log: Logger;
  readonly origins: Origins;
  /** Requests being answered. */
  active: number;
  /** Bytes of requests still coming in and answers still going out. */
  held: number;
};

/** HTTP methods the services know; the original closes the connection on any other. */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]);
const noBody = new Uint8Array(0);

/** The HTTP face of a service on one port. */
export function createHttpService(service: Service, restricted: boolean): Omit<HttpService, "closed"> {
  const { limits, origins, auth } = service;
  return {
    limits,
    screen(head, remoteAddress) {
      const { method, target, authorization } = head;
      if (!methods.has(method) || service.isShutOut(remoteAddress)) return "cut";
      if (method === "OPTIONS") return optionsAnswer(head, origins);
      if (isOfForeignPage(head, { origins, hasLogin: auth !== undefined }))
        return forbiddenAnswer(head, origins);
      const verdict = auth?.check({ method, url: target, authorization }) ?? "ok";
      if (verdict === "ok") return undefined;
      return challengeAnswer(head, auth!.challenge(verdict === "stale"), origins);
    },
    async answer(head, body, remoteAddress) {
      try {
        const request = { dialect: service.dialect, restricted, remoteAddress };
        const answer = await answerWithin(service, { head, body, request });
        return answer === undefined ? undefined : httpAnswer(head, answer, origins);
      } catch (error) {
        service.log.error("rpc request failed", { error });
        return undefined;
      }
    },
    hold(bytes) {
      service.held += bytes;
      return service.held <= limits.heldBytes;
    },
  };
}

type Asked = {
  readonly head: RequestHead;
  readonly body: Buffer | "too large";
  readonly request: RequestInfo;
};

/** The answer, or undefined when the caller is to be cut off. */
async function answerWithin(service: Service, { head, body, request }: Asked): Promise<Answer | undefined> {
  const { limits } = service;
  const isContract = service.dialect === "contract";
  if (body === "too large") return isContract ? tooLarge : undefined;
  if (service.active >= limits.requests || service.held > limits.heldBytes) return overloaded;
  // The original does not know chunks: to it such a request has no body.
  const known = head.length !== undefined || isContract ? body : noBody;
  service.active++;
  try {
    const answer = await service.answerer(head.target, known, request);
    if (answer.body.length <= limits.answerBytes) return answer;
    service.log.warn("rpc answer too long", { path: head.target, bytes: answer.body.length });
    return failed;
  } finally {
    service.active--;
  }
}
