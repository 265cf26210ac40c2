/** How a wallet service is started. */
import type { Dialect, Listener, Log, Login, RpcServerOptions } from "@anulo/rpc";
import type { AccessOptions } from "./access/access.ts";
import type { DaemonAddress } from "./daemon.ts";
import type { EventSink } from "./events/follower.ts";
import type { LedgerStoreOptions } from "./file/ledger-store.ts";
import type { FirstWallet } from "./first-wallet.ts";
import type { AliasOptions } from "./open-alias.ts";
import type { Runtime } from "./runtime.ts";
import type { ServiceEventsOptions } from "./service-events.ts";
import type { NetworkName } from "./state.ts";

export type WalletServiceOptions = Pick<
  RpcServerOptions<never>,
  "limits" | "onCall" | "origins" | "pages" | "tls"
> & {
  readonly listen: readonly Listener[];
  /** Where wallets are kept; without it none can be made or opened. */
  readonly walletDirectory?: string;
  /** Where the wallets' ledgers are kept; in a journal beside each wallet's keys unless given. */
  readonly store?: LedgerStoreOptions;
  /** Where other processes that serve the same wallets reach this one; left out, it has them for itself. */
  readonly fleet?: Pick<Listener, "host" | "port">;
  readonly daemon: DaemonAddress;
  readonly trustedDaemon?: boolean;
  readonly network?: NetworkName;
  /** How names in place of addresses are looked up; left out, they are not. */
  readonly aliases?: AliasOptions;
  /** Only commands that can't spend or show secrets. */
  readonly restricted?: boolean;
  readonly dialect?: Dialect;
  readonly login?: Login;
  readonly kdfRounds?: number;
  /** Whether wallets are left behind with a cache for the original program; they are unless this is false. */
  readonly writesOriginalCache?: boolean;
  /** The wallet to begin with. */
  readonly first?: FirstWallet;
  /** Told the id (hex) of each transaction that pays a wallet, once in the pool and once in a block. */
  readonly onReceived?: (txid: string) => void;
  /** Where events of wallets with files are kept; left out, none are. Stays the caller's. */
  readonly events?: EventSink;
  /** Has the service keep an event log of its own; left out, it keeps none. */
  readonly eventLog?: ServiceEventsOptions;
  /** Has callers known by tokens, beside the login or in its place; left out, no tokens are taken. */
  readonly access?: AccessOptions;
  /** Seconds between two automatic refreshes; 0 for none. */
  readonly refreshPeriod?: number;
  readonly log?: Log;
  /** Threads for signing, proofs and passwords; one a processor unless given. */
  readonly concurrency?: number;
  /** Threads, clock and randomness that others use too, who end it; its own, of `concurrency` and `kdfRounds`, unless given. */
  readonly runtime?: Runtime;
  /** At most so many wallets are open at once by their names; 1,000 unless given. */
  readonly maxOpen?: number;
  /** Seconds without a call after which a wallet that no caller opened is closed; 600 unless given. */
  readonly idleSeconds?: number;
  /** Milliseconds, for what is closed when idle. */
  readonly clock?: () => number;
};
