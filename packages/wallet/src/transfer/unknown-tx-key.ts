import { equalBytes } from "@anulo/protocol";

/**
 * The scalar 1, which stands for the secret key of a transaction that another wallet signed: an offline signer exports
 * no keys, and leaves the payment id unencrypted. Source: wallet2.cpp `sign_tx`.
 */
export const UNKNOWN_TX_KEY: Uint8Array = Uint8Array.of(1, ...new Uint8Array(31));

/** Whether a transaction's main secret key is known only to the wallet that signed it. */
export const isKeptElsewhere = ([main]: readonly Uint8Array[]): boolean =>
  main !== undefined && equalBytes(main, UNKNOWN_TX_KEY);
