import { equalBytes } from "@anulo/protocol";

/**
 * The scalar 1, which stands for the secret key of a transaction that another wallet signed: who signs away from the
 * network exports no keys, and leaves the payment id readable instead. Source: wallet2.cpp `sign_tx`.
 */
export const UNKNOWN_TX_KEY: Uint8Array = Uint8Array.of(1, ...new Uint8Array(31));

/** Whether a transaction's main secret key is not known here but to the wallet that signed it. */
export const isKeptElsewhere = ([main]: readonly Uint8Array[]): boolean =>
  main !== undefined && equalBytes(main, UNKNOWN_TX_KEY);
