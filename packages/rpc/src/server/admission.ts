/** What each request passes before its call runs: it is counted, waits for its turn, and its response for memory. */
import { type MaybePromise, whenFailed, whenReady } from "@anulo/limits";
import { protocolErrors } from "../errors.ts";
import type { Logger } from "../log/logger.ts";
import { type Answer, failed, overloaded, tooLarge } from "./answer.ts";
import { errorOf, type RequestInfo } from "./call.ts";
import type { Caller, CallerShare, ResponseHold } from "./caller-share.ts";
import { EventStream, type StreamAnswer } from "./event-stream.ts";
import { OverBudget } from "./over-budget.ts";
import { CallerLeft } from "./request-budget.ts";
import { refusalAnswer } from "./resource-path.ts";

/** A response, and the object that holds its memory until it is sent. */
export type HeldAnswer = { readonly answer: Answer; readonly hold: ResponseHold | undefined };

export type Admission = {
  readonly target: string;
  readonly answer: () => MaybePromise<Answer | StreamAnswer>;
  readonly request: RequestInfo;
  readonly share: CallerShare;
  readonly caller: Caller;
};

export type AdmittedAnswer = HeldAnswer | { readonly stream: EventStream };

/** The response with its memory, or undefined if nobody is to get one. */
export function admittedAnswer(log: Logger, admission: Admission): MaybePromise<AdmittedAnswer | undefined> {
  const { request, share, caller } = admission;
  if (!share.begin(caller)) return { answer: overloaded, hold: undefined };
  const answer = whenFailed(
    () => answerInTurn(admission),
    (error) => answerToError(log, admission, error),
  );
  return whenReady(answer, (response) => {
    request.budget.end();
    // A stream's request is in progress until the stream ends.
    if (response === undefined || !("stream" in response)) share.end(caller);
    return response;
  });
}

function answerInTurn(admission: Admission): MaybePromise<AdmittedAnswer | undefined> {
  const { share, caller } = admission;
  const turn = share.turn(caller);
  // The connection measures what is done at once.
  if (!(turn instanceof Promise)) return answerAdmitted(admission);
  const since = performance.now();
  return turn.then(() => {
    if (performance.now() - since > share.limits.slowMs) throw new OverBudget("port", "waited for too long");
    return share.measure(() => answerAdmitted(admission));
  });
}

function answerAdmitted(admission: Admission): MaybePromise<AdmittedAnswer | undefined> {
  if (admission.caller.hasLeft) return undefined;
  return whenReady(admission.answer(), (answer) => {
    if ("events" in answer) return streamAdmitted(answer, admission);
    return { answer, hold: admission.request.budget.settle(answer.body.length) };
  });
}

function streamAdmitted(answer: StreamAnswer, admission: Admission): AdmittedAnswer {
  const { request, share, caller } = admission;
  if (!share.beginStream(caller)) {
    answer.onEnd();
    return { answer: tooManyStreams, hold: undefined };
  }
  try {
    const maxWaitingBytes = Math.min(answer.longest, share.limits.streamBytes, share.limits.answerBytes);
    const hold = request.budget.settle(maxWaitingBytes);
    const onEnd = () => {
      hold?.release();
      share.endStream(caller);
      share.end(caller);
    };
    return { stream: new EventStream(answer, { maxWaitingBytes, onEnd }) };
  } catch (error) {
    share.endStream(caller);
    answer.onEnd();
    throw error;
  }
}

/** Undefined if nobody is to get a response. */
function answerToError(
  log: Logger,
  { target: path, request: { id } }: Admission,
  error: unknown,
): HeldAnswer | undefined {
  if (error instanceof OverBudget) {
    if (error.of === "response") log.warn("rpc answer too long", { path, request: id });
    if (error.of === "rows") log.warn("rpc call reads too many rows", { path, request: id });
    return { answer: unaffordable[error.of], hold: undefined };
  }
  if (!(error instanceof CallerLeft)) log.error("rpc request failed", { request: id, error });
  return undefined;
}

const tooManyStreams = refusalAnswer(
  503,
  errorOf({ ...protocolErrors.limitExceeded, message: "Too many streams are open" }),
);
const unaffordable: Readonly<Record<OverBudget["of"], Answer>> = {
  request: tooLarge,
  response: failed,
  rows: failed,
  port: overloaded,
};
