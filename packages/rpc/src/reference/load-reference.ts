/** What documents say beside the declarations: loaded when a document is first requested. */
import type { ServiceReference } from "./service-reference.ts";

/** Loads what the node's document says beside its declarations. */
export async function loadNodeReference(): Promise<ServiceReference> {
  return (await import("./node-reference.ts")).nodeReference();
}

/** Loads what the wallet service's document says beside its declarations. */
export async function loadWalletReference(): Promise<ServiceReference> {
  return (await import("./wallet-reference.ts")).walletReference();
}
