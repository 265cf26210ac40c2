/** The options of a wallet service. */
import type { Dialect, Listener, Log, Login, RpcServerOptions } from "@anulo/rpc";
import type { AccessOptions } from "./access/access.ts";
import type { DaemonAddress } from "./daemon.ts";
import type { EventSink } from "./events/follower.ts";
import type { LedgerStoreOptions } from "./file/ledger-store.ts";
import type { FirstWallet } from "./first-wallet.ts";
import type { AliasOptions } from "./open-alias.ts";
import type { Runtime } from "./runtime.ts";
import type { Lookahead } from "./scan/address-runs.ts";
import type { ServiceEventsOptions } from "./service-events.ts";
import type { NetworkName } from "./state.ts";

export type WalletServiceOptions = Pick<
  RpcServerOptions<never>,
  "limits" | "onCall" | "onRead" | "origins" | "pages" | "tls"
> & {
  readonly listen: readonly Listener[];
  /** The folder of the wallets; without it no wallet with files can be created or opened. */
  readonly walletDirectory?: string;
  /** Where the wallets' ledgers are stored; if left out, in a journal beside each wallet's keys. */
  readonly store?: LedgerStoreOptions;
  /**
   * Address at which other processes that serve the same wallets reach this one; if left out, this is the only process.
   */
  readonly fleet?: Pick<Listener, "host" | "port">;
  readonly daemon: DaemonAddress;
  readonly trustedDaemon?: boolean;
  readonly network?: NetworkName;
  /** How names in place of addresses are looked up; if left out, they are not. */
  readonly aliases?: AliasOptions;
  /** Allow only commands that can't spend or show secrets. */
  readonly restricted?: boolean;
  readonly dialect?: Dialect;
  readonly login?: Login;
  readonly kdfRounds?: number;
  /** Accounts and addresses that new wallets recognise beyond those in use; as many as the original's if left out. */
  readonly lookahead?: Lookahead;
  /** Whether closing a wallet writes a cache for the original program; true if left out. */
  readonly writesOriginalCache?: boolean;
  /** The wallet that is opened at the start. */
  readonly first?: FirstWallet;
  /** Called with the id (hex) of each transaction that pays a wallet, once in the pool and once in a block. */
  readonly onReceived?: (txid: string) => void;
  /** Where events of wallets with files are stored; if left out, none are. The caller closes it. */
  readonly events?: EventSink;
  /** Makes the service keep an event log of its own; if left out, it keeps none. */
  readonly eventLog?: ServiceEventsOptions;
  /** Accepts callers with tokens, beside the login or instead of it; if left out, no tokens are accepted. */
  readonly access?: AccessOptions;
  /** Seconds between two automatic refreshes; 0 turns them off. */
  readonly refreshPeriod?: number;
  readonly log?: Log;
  /** Threads for signing, proofs and passwords; one per processor if left out. */
  readonly concurrency?: number;
  /**
   * Threads, clock and randomness that the caller shares with others and closes; if left out, the service creates its
   * own from `concurrency` and `kdfRounds`.
   */
  readonly runtime?: Runtime;
  /** Called when scans of many blocks begin, and when the last of them has ended; not with a `runtime` of the caller. */
  readonly onLongScan?: (isUnderWay: boolean) => void;
  /** Maximum number of wallets open at once by their names; 1,000 if left out. */
  readonly maxOpen?: number;
  /** Seconds without a call after which a wallet that was opened on demand is closed; 600 if left out. */
  readonly idleSeconds?: number;
  /**
   * Maximum duration (milliseconds) that a stop waits for the wallets to be closed, and again for what they share; 3,000
   * if left out; `Infinity`: until they are.
   */
  readonly closingMs?: number;
  /** Returns milliseconds; it decides which wallets are idle. */
  readonly clock?: () => number;
};
