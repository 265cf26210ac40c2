/** What all wallets of a service share. */
import type { Log } from "@anulo/rpc";
import type { Access } from "../access/access.ts";
import type { Daemon } from "../daemon.ts";
import type { OpenOptions } from "../file/open-wallet.ts";
import { WalletRefusal } from "../refusal.ts";
import type { Runtime } from "../runtime.ts";
import type { ServiceEvents } from "../service-events.ts";
import type { WalletServiceOptions } from "../service-options.ts";

export interface Common {
  readonly options: WalletServiceOptions;
  readonly log: Log;
  readonly runtime: Runtime;
  /** The service's own event log; otherwise the reason why it has none. */
  readonly serviceEvents: ServiceEvents | string;
  /** The tokens of the service; undefined if it accepts none. */
  readonly access: Access | undefined;
  /** Throws `WalletRefusal` if another process of a fleet may have the wallet of this name by now. */
  confirmHere(name: string): void;
  /** Options for a wallet that is opened now: each has a connection of its own. */
  readonly openOptions: OpenOptions;
  /** Creates a connection to the node of the service's options. */
  connect(): Daemon;
  /** Stops the service. */
  stop(): Promise<void>;
}

/** Returns the wallet folder; throws `WalletRefusal` if the service has none. */
export function directoryOf({ options }: Pick<Common, "options">): string {
  if (options.walletDirectory === undefined) {
    throw new WalletRefusal("NO_WALLET_DIR", "No wallet dir configured");
  }
  return options.walletDirectory;
}

export const notOpen = () => new WalletRefusal("NOT_OPEN", "No wallet file");
