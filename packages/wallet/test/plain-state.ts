/** A wallet's state as data that can be compared: packed lists are equal if they list the same items. */
import { OutputBook } from "../src/outputs/output-book.ts";
import { RecentBlocks } from "../src/packed/block-ids.ts";
import { Payments } from "../src/packed/payments.ts";
import { Receipts } from "../src/packed/receipts.ts";
import { TxKeys } from "../src/packed/tx-keys.ts";
import type { WalletState } from "../src/state.ts";

export const plainState = (state: Readonly<WalletState>) => ({
  ...state,
  outputs: [...state.outputs],
  incoming: [...state.incoming],
  outgoing: new Map(state.outgoing),
  txKeys: new Map(state.txKeys),
  recent: { offset: state.recent.offset, ids: state.recent.slice() },
});

/** A copy that shares nothing with the state. */
export function copyOfState(state: Readonly<WalletState>): WalletState {
  const { outputs, incoming, outgoing, txKeys, recent, ...plain } = structuredClone(plainState(state));
  return {
    ...plain,
    outputs: OutputBook.of(outputs),
    incoming: Receipts.of(incoming),
    outgoing: Payments.of(outgoing),
    txKeys: TxKeys.of(txKeys),
    recent: RecentBlocks.of(recent),
  };
}
