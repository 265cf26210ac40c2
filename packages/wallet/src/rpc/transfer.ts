/** Sending. Declarations: @anulo/rpc wallet/transfers. */
import { wallet as declared, implementFor } from "@anulo/rpc";
import type { WalletContext } from "../service.ts";

export const transferHandlers = implementFor<WalletContext>()(
  declared.transfers,
  {
    /** Every change is on disk before it is answered, so there is nothing left to do. */
    store: () => ({}),
  },
  ["transfer", "transferSplit", "sweepDust", "sweepAll", "sweepSingle", "relayTx", "estimateTxSizeAndWeight"],
);
