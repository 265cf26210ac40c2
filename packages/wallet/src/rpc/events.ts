/** Events of the wallets. Declarations: @anulo/rpc wallet/resources. */
import { type EventQuery, formatJson } from "@anulo/events";
import {
  walletResources as declared,
  HttpError,
  implementResourcesFor,
  type Json,
  type ServerEvent,
  wrongWallet,
} from "@anulo/rpc";
import type { LiveToken } from "../access/token-book.ts";
import { WalletRefusal } from "../refusal.ts";
import type { WalletContext } from "../service.ts";
import type { ServiceLog } from "../service-events.ts";
import { MAX_TIMER_MS } from "../turns.ts";

/** Number of events per read for a stream: few, since they stay in memory until the client has received them. */
const EVENTS_AT_ONCE = 100;
const STREAM = "text/event-stream";
const BAD_QUERY = -32602;
const NO_EVENTS = -1;

/** Throws HttpError if the service keeps no events. */
function logOf({ service: { serviceEvents } }: Pick<WalletContext, "service">): ServiceLog {
  const why = typeof serviceEvents === "string" ? serviceEvents : undefined;
  if (typeof serviceEvents !== "string" && !serviceEvents.log.ended.aborted) return serviceEvents.log;
  throw new HttpError(503, { code: NO_EVENTS, message: why ?? "The event log has ended" });
}

/** No process of the fleet has the log: it is as with a service that has none at the moment. */
function refuseWithoutLog(error: unknown): never {
  if (!(error instanceof WalletRefusal)) throw error;
  throw new HttpError(503, { code: error.code, message: error.message });
}

/** The position at which a client continues: after the last event of the stream that it has received. */
function startOf(after: number, lastEventId: string | undefined): number {
  if (lastEventId === undefined || lastEventId === "") return after;
  const sequence = Number(lastEventId);
  if (/^\d{1,15}$/.test(lastEventId)) return sequence;
  throw new HttpError(400, { code: BAD_QUERY, message: "Last-Event-ID: a sequence number is expected" });
}

/** Events of the whole service, such as those about tokens, are only for tokens that cover all of it. */
function maySee(token: LiveToken, wallet: string): boolean {
  if (!token.isValid) return false;
  return wallet === "" ? token.isForAll && token.allows("admin") : token.covers(wallet);
}

/** A stream also ends when its token does. */
function endOf(token: LiveToken | undefined, signal: AbortSignal): AbortSignal {
  if (token === undefined) return signal;
  if (token.secondsLeft === Number.POSITIVE_INFINITY) return AbortSignal.any([signal, token.ended]);
  // A stream that a timer ends too soon may be continued by its reader.
  const expiry = AbortSignal.timeout(Math.min(Math.max(0, token.secondsLeft * 1000), MAX_TIMER_MS));
  return AbortSignal.any([signal, token.ended, expiry]);
}

/** Returns the existing events, then new ones, until the client disconnects. */
async function* follow(
  log: ServiceLog,
  { after, ...filter }: Omit<EventQuery, "limit">,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent, void> {
  for (let at = after; !signal.aborted; ) {
    const { events, next } = await log.read({ ...filter, after: at, limit: EVENTS_AT_ONCE });
    for (const event of events) yield { id: `${event.sequence}`, event: event.type, data: formatJson(event) };
    at = next;
    // Events beyond those that a filter left out are no reason to wait.
    if (events.length === 0) await log.waitForEvent(next, signal);
  }
}

export const walletResourceHandlers = implementResourcesFor<WalletContext>()(declared, {
  async events(context, { after, limit, types, wallet }, { accept, lastEventId, signal }) {
    const log = logOf(context);
    const { name } = context.service;
    if (name !== undefined && wallet !== undefined && wallet !== name)
      throw new HttpError(400, { code: BAD_QUERY, message: "wallet: the path names another" });
    const of = name ?? wallet;
    const { token } = context;
    if (token !== undefined && wallet !== undefined && !token.covers(wallet))
      throw new HttpError(403, wrongWallet());
    const filter = {
      ...(token !== undefined && { accepts: (from: string) => maySee(token, from) }),
      ...(of !== undefined && { wallet: of }),
      ...(types !== undefined && { types: new Set(types.split(",")) }),
    };
    if (accept?.includes(STREAM) === true)
      return {
        events: follow(log, { ...filter, after: startOf(after, lastEventId) }, endOf(token, signal)),
      };
    const { events, next, oldest } = await log.read({ ...filter, after, limit }).catch(refuseWithoutLog);
    return { json: { events: events as unknown as Json[], next, oldest } };
  },
});
