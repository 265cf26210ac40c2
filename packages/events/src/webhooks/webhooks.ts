import { randomBytes } from "node:crypto";
import type { Clock } from "../clock.ts";
import { systemClock } from "../clock.ts";
import type { EventLog } from "../log.ts";
import {
  type DeadLetter,
  type Hook,
  hookKey,
  hookRow,
  progressKey,
  progressRow,
  readHooks,
  startAt,
} from "./hook.ts";
import { Connections, post, type Resolve, systemResolve } from "./post.ts";
import { HookSender, type SenderContext } from "./sender.ts";
import { NEW_SECRET_BYTES, secretBytes, secretText } from "./signature.ts";

const MAX_HOOKS = 256;
const MAX_URL_LENGTH = 2_048;
const MAX_FILTERS = 64;
const MAX_FILTER_LENGTH = 255;
const MAX_REPLAYED = 100;
const MAX_LETTERS_LISTED = 100;
const ID_BYTES = 16;

export interface NewWebhook {
  readonly url: string;
  /** Names of wallets, where * stands for any characters; empty means all wallets. */
  readonly wallets?: readonly string[];
  /** Types of events; empty means all. */
  readonly types?: readonly string[];
  /** `whsec_…`; by default a new one is generated. */
  readonly secret?: string;
  /** Sequence number after which events are sent; by default only events added after the webhook. */
  readonly after?: number;
}

/** A webhook as it is listed, without its secret. */
export interface WebhookStatus extends Omit<Hook, "secret"> {
  /** Number of the last event that was sent to it, or that its filter left out. */
  readonly sequence: number;
  /** Failed attempts for the next event. */
  readonly attempts: number;
  /** Seconds since 1970 of the next attempt; 0 where no attempt has failed. */
  readonly nextAttempt: number;
  /** Number of events that were pruned from the log before they were sent. */
  readonly missed: number;
}

/** Sends events to addresses by the Standard Webhooks convention. Source: https://www.standardwebhooks.com. */
export interface Webhooks {
  /**
   * Adds a webhook; its secret is returned only here. Throws a RangeError for an invalid webhook, or when there are too
   * many.
   */
  add(webhook: NewWebhook): Promise<{ id: string; secret: string }>;
  list(): WebhookStatus[];
  /** Events that became dead letters since the webhooks were opened. */
  readonly givenUp: number;
  /** Removes a webhook with its dead letters; returns whether there was one. */
  remove(id: string): Promise<boolean>;
  /** Enables a webhook that was disabled. Throws a RangeError if there is none. */
  enable(id: string): Promise<void>;
  /**
   * Returns at most 100 dead letters after a sequence number, oldest first. Throws a RangeError if there is no such
   * webhook.
   */
  deadLetters(id: string, after?: number): Promise<DeadLetter[]>;
  /**
   * Sends the 100 oldest dead letters again; those that are delivered are removed. Throws a RangeError if there is no
   * such webhook.
   */
  replay(id: string): Promise<{ delivered: number; failed: number }>;
  /** Stops sending. The log stays open. */
  close(): Promise<void>;
}

export interface WebhooksOptions {
  readonly log: EventLog;
  readonly clock?: Clock;
  /** Returns a number from 0 to below 1. */
  readonly random?: () => number;
  readonly resolve?: Resolve;
  /** Also sends to addresses that are not part of the public Internet. */
  readonly allowsPrivate?: boolean;
}

/** Opens the webhooks of a log and continues their deliveries. */
export async function openWebhooks(options: WebhooksOptions): Promise<Webhooks> {
  const { log, clock = systemClock, random = Math.random } = options;
  const { resolve = systemResolve, allowsPrivate = false } = options;
  const connections = new Connections();
  const context: SenderContext = {
    log,
    clock,
    random,
    post: (attempt) => post({ ...attempt, resolve, allowsPrivate, connections }),
    givenUp: 0,
  };
  const senders = new Map<string, HookSender>();
  /** Webhooks that are being added count too. */
  let adding = 0;
  const run = (sender: HookSender) => {
    senders.set(sender.hook.id, sender);
    sender.start();
  };
  const senderOf = (id: string): HookSender => {
    const sender = senders.get(id);
    if (sender === undefined) throw new RangeError("there is no such webhook");
    return sender;
  };
  for (const { hook, progress } of await readHooks(log.rows)) run(new HookSender(context, hook, progress));
  return {
    async add({ after = log.last, ...webhook }) {
      if (senders.size + adding >= MAX_HOOKS) throw new RangeError(`there are ${MAX_HOOKS} webhooks already`);
      if (!Number.isSafeInteger(after) || after < 0) throw new RangeError(`${after} numbers no event`);
      const hook = hookOf(webhook);
      const progress = startAt(Math.min(after, log.last));
      adding++;
      try {
        await log.rows.write(async (rows) => {
          rows.put(hookRow(hook));
          rows.put(progressRow(hook.id, progress));
          return true;
        });
      } finally {
        adding--;
      }
      run(new HookSender(context, hook, progress));
      return { id: hook.id, secret: hook.secret };
    },
    list: () => [...senders.values()].map(statusOf),
    get givenUp() {
      return context.givenUp;
    },
    async remove(id) {
      const sender = senders.get(id);
      if (sender === undefined) return false;
      await sender.stop();
      try {
        await log.rows.write(async (rows) => {
          rows.delete(hookKey(id));
          rows.delete(progressKey(id));
          await sender.deadLetters.clear(rows);
          return true;
        });
      } catch (error) {
        if (senders.get(id) === sender) run(new HookSender(context, sender.hook, sender.progress));
        throw error;
      }
      return senders.delete(id);
    },
    enable: async (id) => await senderOf(id).enable(),
    async deadLetters(id, after = 0) {
      const found: DeadLetter[] = [];
      for await (const { event: _, ...letter } of senderOf(id).deadLetters.after(after, MAX_LETTERS_LISTED)) {
        found.push(letter);
      }
      return found;
    },
    replay: async (id) => await senderOf(id).replay(MAX_REPLAYED),
    async close() {
      await Promise.all([...senders.values()].map((sender) => sender.stop()));
      connections.close();
    },
  };
}

function statusOf({ hook: { secret: _, ...hook }, progress }: HookSender): WebhookStatus {
  const { sequence, attempts, next, missed } = progress;
  return { ...hook, sequence, attempts, nextAttempt: Math.ceil(next / 1000), missed };
}

function hookOf({ url, wallets = [], types = [], secret }: Omit<NewWebhook, "after">): Hook {
  const isGoodUrl = url.length <= MAX_URL_LENGTH && URL.canParse(url) && isTarget(new URL(url));
  if (!isGoodUrl) throw new RangeError("a webhook's address is http:// or https://, without a password");
  for (const filters of [wallets, types]) {
    const isBounded = filters.every(({ length }) => length > 0 && length <= MAX_FILTER_LENGTH);
    if (filters.length > MAX_FILTERS || !isBounded)
      throw new RangeError("a webhook's filters are too many or too long");
  }
  if (secret !== undefined) secretBytes(secret).fill(0);
  return {
    id: randomBytes(ID_BYTES).toString("hex"),
    url: new URL(url).href,
    wallets: [...wallets],
    types: [...types],
    secret: secret ?? secretText(randomBytes(NEW_SECRET_BYTES)),
    disabled: "",
  };
}

const isTarget = ({ protocol, username, password }: URL): boolean =>
  (protocol === "http:" || protocol === "https:") && username === "" && password === "";
