import { type MaybePromise, whenFailed, whenOver, whenReady } from "@anulo/limits";
import type { Call, Handler, Implemented, Need } from "../define.ts";
import type { Dialect } from "../dialect.ts";
import { BadRequest, protocolErrors, RpcError } from "../errors.ts";
import type { Json } from "../json.ts";
import { type Logger, silent } from "../log/logger.ts";
import type { Bearer } from "./bearer.ts";
import { CallerLeft, OverBudget, type RequestBudget } from "./request-budget.ts";

/** Where a request came from and what it may do and cost. */
export type RequestInfo = {
  readonly dialect: Dialect;
  /** True on a restricted port, and for what a restricted process has passed on. */
  readonly restricted: boolean;
  /** False where any web page can have sent it: by GET, without a login. */
  readonly mayAct: boolean;
  /** The header Idempotency-Key, as it was sent. */
  readonly idempotencyKey?: string | undefined;
  /** IP address of the caller. */
  readonly remoteAddress: string;
  /** Names the request in every line of the log about it. */
  readonly id: string;
  /** What a named path names, decoded; undefined on the service's own paths. */
  readonly name: string | undefined;
  /** Whose token came with it; undefined where there was none: then the login, if any, was right. */
  readonly bearer?: Bearer | undefined;
  /** Who sent it: the same object for each request of a connection. */
  readonly caller: RequestCaller;
  readonly budget: RequestBudget;
};

/** The caller as handlers see it. */
export interface RequestCaller {
  /** Aborted when the caller leaves: what is then still being done for it is in vain. */
  readonly signal: AbortSignal;
  /** Whether the signal is aborted. */
  readonly isGone: boolean;
}

/** What handlers are given and what must hold before they run. */
export type Rules<Context> = {
  /** Handlers wait for it; what it throws refuses the call. */
  readonly context: (request: RequestInfo) => MaybePromise<Context>;
  /** Whether a token is for what a call with these params is about; throws the refusal where it is not. */
  readonly checkReach?: (call: Call, asked: { params: unknown; context: Context; bearer: Bearer }) => void;
  /** Whether a need of a declaration is met, or now can be; left out, every need is. What it throws refuses the call. */
  readonly isMet?: (need: Need, context: Context) => MaybePromise<boolean>;
  /** Told once a call has ended, however it did. */
  readonly release?: (context: Context) => void;
  readonly log?: Logger;
  /** Told of every call that was run, once it has ended. */
  readonly onCall?: ((end: CallEnd) => void) | undefined;
};

/** A call that has ended; `error` is undefined where it did what was asked. */
export interface CallEnd {
  readonly call: string;
  /** From its params read to its result, without writing it. */
  readonly seconds: number;
  readonly error: unknown;
}

/** How a call is refused while a need is not met. Source: wallet_rpc_server.cpp `not_open`, `m_restricted`. */
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

/** What a call is answered while a need is not met. */
export const unmetNeed = (need: Need): RpcError => errorOf(unmet[need]);

export function errorOf({ code, message }: { code: number; message: string }): RpcError {
  return new RpcError(code, message);
}

/** Thrown for params that do not fit their declaration. */
export class BadParams extends Error {
  override name = "BadParams";
}

/** Finds what a name means in this dialect on this port, or undefined. */
export function findCall<Context>(
  calls: ReadonlyMap<string, Implemented<Context>>,
  name: string,
  request: RequestInfo,
): Implemented<Context> | undefined {
  const found = calls.get(name);
  if (found === undefined) return undefined;
  const { access, dialect = request.dialect } = found.call;
  const isKnown = dialect === request.dialect && !(request.restricted && access === "unrestricted");
  return isKnown ? found : undefined;
}

/** Whether a request may have this call made. */
export function isAllowed({ reads }: Call, { mayAct }: RequestInfo): boolean {
  return reads || mayAct;
}

/** Calls by every name they answer to; a name declared twice is a mistake in the declarations. */
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

/** Runs a handler with params already read; throws RpcError for every refusal the caller may see. */
export function runHandler<Context>(
  found: Implemented<Context>,
  params: unknown,
  request: RequestInfo,
  rules: Rules<Context>,
): MaybePromise<unknown> {
  const { name } = found.call;
  rules.log?.info("call", { call: name, from: request.remoteAddress, request: request.id });
  const run = () =>
    whenReady(rules.context(request), (context) =>
      whenOver(
        () => {
          const { bearer } = request;
          if (bearer !== undefined) rules.checkReach?.(found.call, { params, context, bearer });
          return whenMet(found.call.needs, { context, rules }, () => runMet(found, params, context));
        },
        () => rules.release?.(context),
      ),
    );
  return rules.onCall === undefined ? run() : timed(name, run, rules.onCall);
}

function timed(
  call: string,
  run: () => MaybePromise<unknown>,
  onCall: (end: CallEnd) => void,
): MaybePromise<unknown> {
  const begun = performance.now();
  const end = (error?: unknown) => onCall({ call, seconds: (performance.now() - begun) / 1000, error });
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

/** Goes on once every need is met, in order; throws the refusal of the first that is not. */
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
 * What the caller sees of an exception; what it may not see goes to the log. Throws what ends the request: that it
 * costs too much, or that nobody waits for it.
 */
export function visibleError(
  error: unknown,
  { name }: Pick<Call, "name">,
  { request, log = silent }: { readonly request: RequestInfo; readonly log: Logger | undefined },
): RpcError {
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
