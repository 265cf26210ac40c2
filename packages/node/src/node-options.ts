import type { Checkpoint, KnownBlocks, SeedSchedule } from "@anulo/consensus";
import type { RandomSource } from "@anulo/crypto";
import { type Network, type NetworkName, networks } from "@anulo/protocol";
import type {
  Dialect,
  Limits,
  Listener,
  Log,
  Login,
  RpcServerOptions,
  TlsOptions,
  ZmqEndpoint,
} from "@anulo/rpc";
import type { StoreOptions, SyncMode } from "@anulo/storage";
import type { UnusualBlockRate } from "./block-rate.ts";
import { connectionsPerPort } from "./descriptors.ts";
import type { BackgroundSettings } from "./mining/background.ts";
import type { PowerSource } from "./mining/background-mode.ts";
import type { MiningOrder } from "./mining/miner.ts";
import type { PeerOptions } from "./peer-network.ts";
import type { PowOptions } from "./pow/pow.ts";
import type { BootstrapChoice } from "./rpc/bootstrap-choice.ts";

/** Options of a node. All but the network may be left out. */
export interface NodeOptions
  extends Pick<RpcServerOptions<never>, "onCall" | "onRead" | "pages">,
    Pick<StoreOptions, "onMigration"> {
  /** A network's name; or its parameters, for tests on chains with other hard forks. */
  readonly network: NetworkName | Network;
  /** The database file; if left out, a temporary one, deleted when the node stops. */
  readonly databasePath?: string | undefined;
  /** When blocks are flushed to disk; by default soon after, see docs/database.md. */
  readonly syncMode?: SyncMode | undefined;
  /** Whether the blocks beside the main chain are kept over a restart; by default they are dropped at the start. */
  readonly keepAltBlocks?: boolean | undefined;
  /** Removes the proofs of old transactions, except for one stripe of the chain. */
  readonly pruneBlockchain?: boolean | undefined;
  /** Difficulty of every block, on test chains; by default it follows from the chain. */
  readonly fixedDifficulty?: bigint | undefined;
  /** When RandomX changes its seed, on test chains; by default as on every network. */
  readonly seedSchedule?: SeedSchedule | undefined;
  /** Block ids that the chain must have, besides those built in for its network. */
  readonly checkpoints?: readonly Checkpoint[] | undefined;
  /** The known beginning of the chain, whose blocks need no proofs; if left out, every block is verified in full. */
  readonly knownBlocks?: KnownBlocks | undefined;
  /** How RandomX is computed; by default by the system's library if there is one. */
  readonly hashing?: Pick<PowOptions, "isPortable" | "disabledFlags"> | undefined;
  /** Where the RPC listens; by default on a free port of 127.0.0.1. */
  readonly listen?: readonly Listener[] | undefined;
  readonly dialect?: Dialect | undefined;
  readonly login?: Login | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /** If left out, RPC is not encrypted. */
  readonly tls?: TlsOptions | undefined;
  /** Origins whose web pages may use RPC. */
  readonly origins?: readonly string[] | undefined;
  /** Threads that check proofs; with 0 they are checked in this thread. By default one per processor. */
  readonly verifyThreads?: number | undefined;
  /**
   * Threads that answer long calls about the chain while this one is busy, started when first needed; by default one
   * fewer than those that check proofs, and three at most.
   */
  readonly answerThreads?: number | undefined;
  /** How many descriptors the process may open; ports share what is left of them. By default they are not limited. */
  readonly descriptors?: number | undefined;
  /** Bans, for a day, callers that keep requesting another chain; by default none is banned. */
  readonly banFailingCallers?: boolean | undefined;
  /** Mines from the start. */
  readonly mining?: MiningOrder | undefined;
  /** When background mining may work; by default as in the original. */
  readonly backgroundMining?: BackgroundSettings | undefined;
  /** Returns the machine's source of power; by default it is unknown. */
  readonly powerSource?: (() => PowerSource) | undefined;
  /** Weight (bytes) of waiting transactions above which the cheapest are dropped. */
  readonly maxPoolWeight?: number | undefined;
  /** Options of the connections to peers; if left out, there are none. */
  readonly peers?: PeerOptions | undefined;
  /** Called when blocks arrive at a rate that chance does not explain. */
  readonly onUnusualBlockRate?: ((rate: UnusualBlockRate) => void) | undefined;
  /** Another node that answers while this one is behind. */
  readonly bootstrap?: BootstrapChoice | undefined;
  /** ZeroMQ endpoints at which events of chain and pool are published; none by default. */
  readonly publishAt?: readonly ZmqEndpoint[] | undefined;
  /** Never connects to peers. */
  readonly offline?: boolean | undefined;
  /** Unix seconds; by default the system's clock. */
  readonly now?: (() => number) | undefined;
  /** Source of the keys of miner transactions; by default the system's. */
  readonly random?: RandomSource | undefined;
  readonly log?: Log | undefined;
}

export const defaultListen: readonly Listener[] = [{ host: "127.0.0.1", port: 0 }];

export function networkOf({ network }: NodeOptions): Network {
  return typeof network === "string" ? networks[network] : network;
}

export function isOffline({ offline, peers }: NodeOptions): boolean {
  return offline ?? peers === undefined;
}

/** How many connections each port accepts: the peers', those of callers, and those of subscribers. */
export function maxConnectionsOf(options: NodeOptions): number {
  const { listen = defaultListen, publishAt = [], descriptors = Number.POSITIVE_INFINITY } = options;
  return connectionsPerPort(1 + listen.length + publishAt.length, descriptors);
}
