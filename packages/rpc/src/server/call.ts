import { type MaybePromise, whenFailed, whenOver, whenReady } from "@anulo/limits";
import type { Call, Handler, Implemented, Need } from "../define.ts";
import type { Dialect } from "../dialect.ts";
import { BadRequest, protocolErrors, RpcError } from "../errors.ts";
import type { Json } from "../json.ts";
import { type Logger, silent } from "../log/logger.ts";
import type { Bearer } from "./bearer.ts";
import { OverBudget } from "./over-budget.ts";
import { CallerLeft, type RequestBudget } from "./request-budget.ts";
import type { RowMeter } from "./row-meter.ts";

/** The origin of a request, its permissions and its limits. */
export type RequestInfo = {
  readonly dialect: Dialect;
  /** True on a restricted port, and for what a restricted process has passed on. */
  readonly restricted: boolean;
  /** False if any web page could have sent it: by GET, without a login. */
  readonly mayAct: boolean;
  /** The header Idempotency-Key, as it was sent. */
  readonly idempotencyKey?: string | undefined;
  /** IP address of the caller. */
  readonly remoteAddress: string;
  /** Identifies the request in every log line about it. */
  readonly id: string;
  /** The object in a named path, decoded; undefined on the service's own paths. */
  readonly name: string | undefined;
  /** The owner of the token that was sent; undefined if there was none: then the login, if any, was right. */
  readonly bearer?: Bearer | undefined;
  /** The sender: the same object for each request of a connection. */
  readonly caller: RequestCaller;
  readonly budget: RequestBudget;
  /** Called with each error that the response is about. */
  readonly onError?: (error: unknown) => void;
};

/** The caller, in the form that handlers use. */
export interface RequestCaller {
  /** Aborted when the caller leaves: work for it is then useless. */
  readonly signal: AbortSignal;
  /** Aborted only when its connection is closed. */
  readonly leftSignal: AbortSignal;
  /** Whether `signal` is aborted. */
  readonly isGone: boolean;
  /** Counts the database rows that its call reads: only one runs at a time. */
  readonly rows: RowMeter;
  /** Counts milliseconds of processor time that its call uses where the connection cannot measure it. */
  onWork(milliseconds: number): void;
}

/** What handlers receive, and the conditions that are checked before they run. */
export type Rules<Context> = {
  /** Handlers wait for it; an error it throws rejects the call. */
  readonly context: (request: RequestInfo) => MaybePromise<Context>;
  /** Checks that a token covers the objects that a call with these params is about; throws the error otherwise. */
  readonly checkReach?: (call: Call, request: { params: unknown; context: Context; bearer: Bearer }) => void;
  /**
   * Whether a need of a declaration is met, or can be met now; if left out, every need is. An error it throws rejects
   * the call.
   */
  readonly isMet?: (need: Need, context: Context) => MaybePromise<boolean>;
  /** Called once a call has ended, however it ended. */
  readonly release?: (context: Context) => void;
  readonly log?: Logger;
  /** Called before every call that only reads. */
  readonly onRead?: (() => void) | undefined;
  /** Called for every call that was run, once it has ended. */
  readonly onCall?: ((end: CallEnd) => void) | undefined;
};

/** A call that has ended; `error` is undefined if it succeeded. */
export interface CallEnd {
  readonly call: string;
  /** From parsing its params to its result, without serializing the result. */
  readonly seconds: number;
  readonly error: unknown;
}

/** The error of a call while a need is not met. Source: wallet_rpc_server.cpp `not_open`, `m_restricted`. */
const unmet: Readonly<Record<Need, { code: number; message: string }>> = {
  openWallet: { code: -13, message: "No wallet file" },
  unrestrictedService: { code: -7, message: "Command unavailable in restricted mode." },
  mainWallet: { code: -51, message: "This command is disabled for background wallets." },
  spendKey: {
    code: -52,
    message:
      "This command is disabled while background syncing. Stop background syncing to use this command.",
  },
  enabledMultisig: {
    code: -48,
    message:
      "This wallet is multisig, and multisig is disabled. Multisig is an experimental feature and may have bugs. Things that could go wrong include: funds sent to a multisig wallet can't be spent at all, can only be spent with the participation of a malicious group member, or can be stolen by a malicious group member. You can enable it by running this once in monero-wallet-cli: set enable-multisig-experimental 1",
  },
  trustedDaemon: { code: -1, message: "This command requires a trusted daemon." },
};

/** The error of a call while a need is not met. */
export const unmetNeed = (need: Need): RpcError => errorOf(unmet[need]);

export function errorOf({ code, message }: { code: number; message: string }): RpcError {
  return new RpcError(code, message);
}

/** Thrown for params that do not fit their declaration. */
export class BadParams extends Error {
  override name = "BadParams";
}

/** Finds the call with a name in this dialect on this port, or undefined. */
export function findCall<Context>(
  calls: ReadonlyMap<string, Implemented<Context>>,
  name: string,
  request: RequestInfo,
): Implemented<Context> | undefined {
  const implementation = calls.get(name);
  if (implementation === undefined) return undefined;
  const { access, dialect = request.dialect } = implementation.call;
  const isKnown = dialect === request.dialect && !(request.restricted && access === "unrestricted");
  return isKnown ? implementation : undefined;
}

/** Whether a request may make this call. */
export function isAllowed({ reads }: Call, { mayAct }: RequestInfo): boolean {
  return reads || mayAct;
}

/** Calls by all of their names; a name that is declared twice is an error in the declarations. */
export function indexCalls<Context>(
  calls: readonly Implemented<Context>[],
  transport: (call: Call) => boolean,
): ReadonlyMap<string, Implemented<Context>> {
  const index = new Map<string, Implemented<Context>>();
  for (const implemented of calls) {
    if (!transport(implemented.call)) continue;
    for (const name of [implemented.call.name, ...implemented.call.aliases]) {
      if (index.has(name)) throw new Error(`declared twice: ${name}`);
      index.set(name, implemented);
    }
  }
  return index;
}

/** Reads params as JSON; throws BadParams. */
export function readParams(call: Call, params: Json): unknown {
  try {
    return call.params.read(params, { of: "request" });
  } catch (error) {
    if (error instanceof BadRequest) throw new BadParams(`${error.path.join(".")}: ${error.message}`);
    throw error;
  }
}

/** Runs a handler with parsed params; throws RpcError for every error that the caller may see. */
export function runHandler<Context>(
  implementation: Implemented<Context>,
  params: unknown,
  request: RequestInfo,
  rules: Rules<Context>,
): MaybePromise<unknown> {
  const { name, cost, reads } = implementation.call;
  rules.log?.info("call", { call: name, from: request.remoteAddress, request: request.id });
  const { rows } = request.caller;
  if (reads) rules.onRead?.();
  const run = () =>
    whenReady(rules.context(request), (context) =>
      whenOver(
        () => {
          const { bearer } = request;
          if (bearer !== undefined) rules.checkReach?.(implementation.call, { params, context, bearer });
          // What acts is never ended halfway.
          rows.begin(reads ? cost.rows : Number.POSITIVE_INFINITY);
          const result = whenMet(implementation.call.needs, { context, rules }, () =>
            runMet(implementation, params, context),
          );
          return counted(rows, result);
        },
        () => rules.release?.(context),
      ),
    );
  return rules.onCall === undefined ? run() : timed(name, run, rules.onCall);
}

/** Ends the first slice of a call; throws OverBudget if it has read too many rows. */
function counted<T>(rows: RowMeter, result: MaybePromise<T>): MaybePromise<T> {
  return whenFailed(
    () => {
      rows.pause();
      return result;
    },
    (error) => {
      // Nobody waits for it any more.
      if (result instanceof Promise) void result.catch(() => {});
      throw error;
    },
  );
}

function timed(
  call: string,
  run: () => MaybePromise<unknown>,
  onCall: (end: CallEnd) => void,
): MaybePromise<unknown> {
  const startMs = performance.now();
  const end = (error?: unknown) => onCall({ call, seconds: (performance.now() - startMs) / 1000, error });
  const ran = whenFailed(run, (error) => {
    end(error ?? "failed");
    throw error;
  });
  return whenReady(ran, (result) => {
    end();
    return result;
  });
}

function runMet<Context>({ handler }: Implemented<Context>, params: unknown, context: Context): unknown {
  if (handler === undefined) throw errorOf(protocolErrors.notImplemented);
  return (handler as Handler<Call, Context>)(params as never, context);
}

/** Continues once every need is met, in order; throws the error of the first need that is not. */
export function whenMet<Context, T>(
  needs: readonly Need[],
  { context, rules }: { readonly context: Context; readonly rules: Rules<Context> },
  next: () => MaybePromise<T>,
): MaybePromise<T> {
  const [need, ...others] = needs;
  if (need === undefined || rules.isMet === undefined) return next();
  return whenReady(rules.isMet(need, context), (isMet) => {
    if (!isMet) throw unmetNeed(need);
    return whenMet(others, { context, rules }, next);
  });
}

/**
 * Converts an exception to the error that the caller sees; details it may not see are logged. Throws errors that end
 * the request: it exceeds its limits, or its caller has left.
 */
export function visibleError(
  error: unknown,
  { name }: Pick<Call, "name">,
  { request, log = silent }: { readonly request: RequestInfo; readonly log: Logger | undefined },
): RpcError {
  request.onError?.(error);
  if (error instanceof OverBudget) throw error;
  if (error instanceof CallerLeft || (request.caller.isGone && error === request.caller.signal.reason))
    throw new CallerLeft();
  if (error instanceof RpcError || error instanceof BadParams) {
    const refusal = error instanceof RpcError ? error : errorOf(protocolErrors.invalidParams);
    log.debug("call refused", { call: name, code: refusal.code, request: request.id });
    return refusal;
  }
  log.error("rpc handler failed", { call: name, request: request.id, error });
  return errorOf(protocolErrors.internal);
}
