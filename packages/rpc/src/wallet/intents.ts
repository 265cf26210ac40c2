import { costs } from "../costs.ts";
import { list, object, omitEmpty, optional, or } from "../schema/composites.ts";
import { hash, i64, printable, text, uint } from "../schema/scalars.ts";
import { onOwnWallet, walletMethod } from "./fields.ts";

/** What became of a payment, or of one of its transactions. */
export type IntentState = "planned" | "signed" | "sent" | "seen" | "mined" | "final" | "failed" | "abandoned";

const intent = object({
  idempotency_key: text,
  method: text,
  state: text,
  /** When it was first recorded, in seconds since 1970. */
  timestamp: uint,
  /** `height`: of the containing block, 0 while there is none. */
  transactions: list(object({ tx_hash: hash, state: text, height: uint })),
  /** How the call was refused once and for all. */
  error: omitEmpty(optional(object({ code: i64, message: text }))),
});

const MAX_INTENTS = 1000;

/** Payments by the key of the call that made them. */
export const intents = {
  getIntent: walletMethod({
    name: "get_intent",
    scope: "read",
    reads: true,
    needs: onOwnWallet,
    summary: "What became of the payment with an idempotency key.",
    params: object({ idempotency_key: printable(128) }),
    result: intent,
  }),
  listIntents: walletMethod({
    name: "list_intents",
    scope: "read",
    reads: true,
    needs: onOwnWallet,
    cost: costs.medium,
    summary: `Payments in the order they were made, after the one with the key \`after\`; up to \`limit\` of them (100, at most ${MAX_INTENTS}).`,
    params: object({ after: optional(printable(128)), limit: or(uint, 100) }),
    result: object({ intents: list(intent) }),
  }),
};
