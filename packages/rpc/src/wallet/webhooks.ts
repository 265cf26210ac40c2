import { costs } from "../costs.ts";
import { always, list, object, optional, or } from "../schema/composites.ts";
import { flag, printable, text, uint } from "../schema/scalars.ts";
import { nothing, onOwnService, walletMethod } from "./fields.ts";

const webhookId = printable(64);
const ofWebhook = object({ webhook_id: webhookId });

const webhook = object({
  webhook_id: text,
  url: text,
  /** Patterns of names, `*` for any characters; of all wallets where there are none. */
  wallets: always(list(text)),
  /** Types of events; all where there are none. */
  events: always(list(text)),
  /** Why nothing is sent until it is enabled; empty where it is. */
  disabled: text,
  /** Number of the last event that was sent, or that was not for it. */
  sequence: uint,
  /** Failed attempts of the next one, and when it is tried again, in seconds since 1970; 0 where none has failed. */
  attempts: uint,
  next_attempt: uint,
  /** Events that were removed from the log before their turn came. */
  missed: uint,
});

const deadLetter = object({
  sequence: uint,
  /** When it was given up, in seconds since 1970. */
  timestamp: uint,
  attempts: uint,
  reason: text,
});

/** Deliveries of the service's events. */
export const webhooks = {
  addWebhook: walletMethod({
    name: "add_webhook",
    scope: "admin",
    reach: "service",
    needs: onOwnService,
    summary: "Has events sent to an address; the secret that signs them is never shown again.",
    params: object({
      url: text,
      wallets: or(list(text), []),
      events: or(list(text), []),
      secret: optional(text),
      /** Events after this number; those to come unless given. */
      after: optional(uint),
    }),
    result: object({ webhook_id: text, secret: text }),
  }),
  listWebhooks: walletMethod({
    name: "list_webhooks",
    scope: "admin",
    reach: "service",
    reads: true,
    needs: onOwnService,
    cost: costs.medium,
    summary: "Webhooks, and how far each has come.",
    params: nothing,
    result: object({ webhooks: always(list(webhook)) }),
  }),
  removeWebhook: walletMethod({
    name: "remove_webhook",
    scope: "admin",
    reach: "service",
    needs: onOwnService,
    summary: "Removes a webhook and its dead letters.",
    params: ofWebhook,
    result: nothing,
  }),
  enableWebhook: walletMethod({
    name: "enable_webhook",
    scope: "admin",
    reach: "service",
    needs: onOwnService,
    summary: "Goes on with a webhook that its receiver has ended.",
    params: ofWebhook,
    result: nothing,
  }),
  listDeadLetters: walletMethod({
    name: "list_dead_letters",
    scope: "admin",
    reach: "service",
    reads: true,
    needs: onOwnService,
    cost: costs.medium,
    summary: "Events that a webhook's receiver never took, up to 100 after the number `after`.",
    params: object({ webhook_id: webhookId, after: or(uint, 0) }),
    result: object({ dead_letters: always(list(deadLetter)), more: flag }),
  }),
  replayDeadLetters: walletMethod({
    name: "replay_dead_letters",
    scope: "admin",
    reach: "service",
    needs: onOwnService,
    summary: "Sends the 100 oldest of them once more; what arrives is removed.",
    params: ofWebhook,
    result: object({ delivered: uint, failed: uint }),
  }),
};
