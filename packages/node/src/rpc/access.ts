import { daemon, type Implemented, implementFor } from "@anulo/rpc";
import { type NodeContext, refusal } from "./context.ts";

/** Handlers of the calls about payment for access, which nobody asks for here. */
export function accessHandlers(): Implemented<NodeContext>[] {
  return implementFor<NodeContext>()(
    daemon.access,
    {
      rpcAccessInfo: () => ({
        cookie: 0,
        credits_per_hash_found: 0,
        diff: 0n,
        hashing_blob: "",
        height: 0,
        next_seed_hash: "",
        seed_hash: "",
        seed_height: 0,
      }),
      rpcAccessData() {
        throw refusal("paymentsNotEnabled", "Payments not enabled");
      },
    },
    ["rpcAccessSubmitNonce", "rpcAccessPay", "rpcAccessTracking", "rpcAccessAccount"],
  );
}
