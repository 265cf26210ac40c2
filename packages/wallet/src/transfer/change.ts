import { type AddressKeys, isSameReceiver } from "./tx-keys.ts";

/**
 * What counts as change: every output to the address that the change of a transfer goes to, also that of a destination
 * with the same address. Its keys are derived as the sender's own, and no additional keys or payment id are made for
 * it. (The history of a wallet leaves out whatever the spending account receives: `settle` in `ledger/apply-blocks.ts`.)
 * Source: cryptonote_tx_utils.cpp `classify_addresses`, device_default.cpp `generate_output_ephemeral_keys`.
 */
export function isChange(output: AddressKeys, change: AddressKeys): boolean {
  return isSameReceiver(output, change);
}
