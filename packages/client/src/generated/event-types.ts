// Written by scripts/make-client.mjs from the declarations of @anulo/rpc.

/** Types of events about incoming payments. */
export const paymentEventTypes = [
  "payment_in_pool",
  "payment_double_spent",
  "payment_dropped",
  "payment_in_block",
  "payment_confirmed",
  "payment_unlocked",
  "payment_undone",
] as const;

/** Types of events about outgoing transactions. */
export const transferEventTypes = [
  "transfer_planned",
  "transfer_signed",
  "transfer_sent",
  "transfer_seen",
  "transfer_missing",
  "transfer_mined",
  "transfer_unlocked",
  "transfer_final",
  "transfer_undone",
  "transfer_failed",
] as const;

/** Types of events about a wallet itself. */
export const stateEventTypes = [
  "wallet_rescan",
  "events_started",
] as const;

/** Types of all events of a wallet: a browser listens to a stream type by type. */
export const walletEventTypes = [...paymentEventTypes, ...transferEventTypes, ...stateEventTypes] as const;
