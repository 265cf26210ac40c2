import { daemon, type Implemented, implementFor } from "@anulo/rpc";
import type { NodeContext } from "./context.ts";
import { refusal } from "./refusal.ts";

/** The answer to a caller that wants to pay. Source: core_rpc_server.cpp `on_rpc_access_submit_nonce`. */
const unnecessary = { status: "Payment not necessary" };

/** Handlers of the calls about payment for access, which this node does not require. */
export function accessHandlers(): Implemented<NodeContext>[] {
  return implementFor<NodeContext>()(daemon.access, {
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
    rpcAccessSubmitNonce: () => unnecessary,
    rpcAccessPay: () => unnecessary,
    rpcAccessTracking({ clear }, { calls }) {
      if (!clear) return { data: calls.entries() };
      calls.clear();
      return { data: [] };
    },
    rpcAccessData() {
      throw refusal("paymentsNotEnabled", "Payments not enabled");
    },
    rpcAccessAccount() {
      throw refusal("paymentsNotEnabled", "Payments not enabled");
    },
  });
}
