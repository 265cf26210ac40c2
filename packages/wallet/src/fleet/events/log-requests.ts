/** What the other processes of a fleet ask of the one that has its event log. */
import { type JsonObject, type NewEvent, packJson, unpackJson } from "@anulo/events";
import { fromHex } from "@anulo/protocol";
import { type Answer, type InternalTarget, misdirected, RpcError } from "@anulo/rpc";
import { WalletRefusal } from "../../refusal.ts";
import type { OpenEvents } from "../../service-events.ts";

export const EVENT_LOG_PATH = "/event-log";
/** Maximum sizes in bytes: a page of events has some more than a MiB, and so has a list of all webhooks at the most. */
const MAX_REQUEST_BYTES = 1024 * 1024;
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Milliseconds after which who waits for an event is answered that there is none. */
const WAIT_MS = 10_000;

/** Events of a change, or some of them, as another process sends them. */
export type SentEntry = {
  /** Hexadecimal. */
  readonly source: string;
  readonly wallet: string;
  readonly change: number;
  readonly before: number;
  readonly isPart: boolean;
  readonly events: readonly NewEvent[];
};

/** The questions; numbers as in the methods of the log. */
export type LogQuestion =
  | { readonly ask: "cursor"; readonly source: string }
  | { readonly ask: "append"; readonly entries: readonly SentEntry[] }
  | {
      readonly ask: "read";
      readonly after: number;
      readonly limit: number;
      readonly wallet: string | null;
      readonly types: readonly string[] | null;
    }
  | { readonly ask: "wait"; readonly after: number }
  | { readonly ask: "webhooks"; readonly method: WebhookMethod; readonly params: readonly unknown[] };

const webhookMethods = ["add", "list", "remove", "enable", "deadLetters", "replay"] as const;
export type WebhookMethod = (typeof webhookMethods)[number];

/** Why something was not done: the value is wrong, or the process could not. */
export type LogFailure = {
  readonly kind: "value" | "refused" | "failed";
  readonly message: string;
};

export type LogAnswer = { readonly value?: unknown; readonly failure?: LogFailure };

function failureOf(error: unknown): LogFailure {
  const message = error instanceof Error ? error.message : "unknown";
  if (error instanceof RangeError) return { kind: "value", message };
  return { kind: error instanceof RpcError ? "refused" : "failed", message };
}

/** The error that a failure stands for: one that is final, or one after which the question may be asked again. */
export function errorOf({ kind, message }: LogFailure): Error {
  if (kind === "value") return new RangeError(message);
  return kind === "refused" ? new WalletRefusal("DENIED", message) : new Error(message);
}

/** Answers other processes while this one has the log. */
export function logTarget(here: () => OpenEvents | undefined, isRestricted: boolean): InternalTarget {
  return {
    requestBytes: MAX_REQUEST_BYTES,
    responseBytes: MAX_ANSWER_BYTES,
    async answer(body, { signal, restricted }) {
      const events = here();
      if (events === undefined) return misdirected;
      const question = unpackJson(Buffer.from(body).toString()) as unknown as LogQuestion;
      try {
        const value = await answerTo(question, events, { signal, isRestricted: isRestricted || restricted });
        return answerOf({ value: value ?? null });
      } catch (error) {
        return events.log.ended.aborted ? misdirected : answerOf({ failure: failureOf(error) });
      }
    },
  };
}

const answerOf = (answer: LogAnswer): Answer => ({
  status: 200,
  type: "application/json",
  body: Buffer.from(packJson(answer as JsonObject)),
});

type Asking = { readonly signal: AbortSignal; readonly isRestricted: boolean };

async function answerTo(
  question: LogQuestion,
  { log, webhooks }: OpenEvents,
  { signal, isRestricted }: Asking,
): Promise<unknown> {
  switch (question.ask) {
    case "cursor":
      return await log.cursorOf(fromHex(question.source));
    case "append":
      return await Promise.all(
        question.entries.map(({ source, ...entry }) =>
          log.append({ ...entry, source: fromHex(source) }).then(() => null, failureOf),
        ),
      );
    case "read": {
      const { wallet, types, after, limit } = question;
      return await log.read({
        after,
        limit,
        ...(wallet !== null && { wallet }),
        ...(types !== null && { types: new Set(types) }),
      });
    }
    case "wait":
      await log.waitForEvent(question.after, AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]));
      return log.last;
    case "webhooks": {
      if (isRestricted) throw new WalletRefusal("DENIED", "Command unavailable in restricted mode.");
      if (!webhookMethods.includes(question.method)) throw new RangeError("there is no such method");
      const method = webhooks[question.method] as (...params: unknown[]) => unknown;
      return await method(...question.params);
    }
    default:
      throw new RangeError("the process does not know what is asked");
  }
}
