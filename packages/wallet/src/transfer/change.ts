import type { SubaddressIndex } from "../outputs/owned-output.ts";
import { type AddressKeys, isSameReceiver } from "./tx-keys.ts";

/**
 * What counts as change: every output to the address that the change of a transfer goes to, also that of a destination
 * with the same address. Its keys are derived as the sender's own, and no additional keys or payment id are made for
 * it. (What a wallet's history counts as change is `isReturned`.)
 * Source: cryptonote_tx_utils.cpp `classify_addresses`, device_default.cpp `generate_output_ephemeral_keys`.
 */
export function isChange(output: AddressKeys, change: AddressKeys): boolean {
  return isSameReceiver(output, change);
}

/**
 * What counts as change in the history of a wallet, which does not know how others have derived an output's keys:
 * whatever the account that pays receives itself, also a payment to another of its addresses. `account` is undefined
 * for a transaction that spends nothing of the wallet. Source: wallet2.cpp `process_new_transaction`.
 */
export function isReturned({ major }: SubaddressIndex, account: number | undefined): boolean {
  return major === account;
}
