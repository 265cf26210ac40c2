import type { RandomSource } from "@anulo/crypto";
import type { Bans, PeerNetwork } from "@anulo/p2p";
import type { Dialect, Log, RowMeter } from "@anulo/rpc";
import type { ChainParts } from "../chain/parts.ts";
import type { Pruner } from "../chain/pruning.ts";
import type { Backlog } from "../mining/backlog.ts";
import type { Miner } from "../mining/miner.ts";
import type { PeerProtocol } from "../peers/peer-protocol.ts";
import type { Pow } from "../pow/pow.ts";
import type { Bootstrap } from "./bootstrap.ts";
import type { CallTracking } from "./call-tracking.ts";
import type { FailingCallers } from "./failing-callers.ts";
import type { AnswerMemory } from "./memory.ts";
import { refusal } from "./refusal.ts";

/** What the handlers of one node share. */
export interface NodeServices {
  readonly parts: ChainParts;
  readonly pow: Pow;
  readonly peers: PeerProtocol;
  readonly network: PeerNetwork;
  /** The part (1 to 8) of a pruned chain that is needed next; 0: any. */
  neededStripe(): number;
  readonly miner: Miner;
  /** Chooses the transactions of the pool that miners are sent. */
  readonly backlog: Backlog;
  readonly pruner: Pruner;
  /** Source of the keys of miner transactions; undefined: the system's. */
  readonly random: RandomSource | undefined;
  /** Unix seconds. */
  readonly startTime: number;
  readonly offline: boolean;
  readonly bans: Bans;
  readonly failingCallers: FailingCallers;
  readonly bootstrap: Bootstrap;
  readonly calls: CallTracking;
  readonly log: Log;
  readonly memory: AnswerMemory;
  /** How often something has happened to the chain or the pool. */
  changes(): number;
  /** Open RPC connections. */
  connectionCount(): number;
  /** Ends the node soon after the answer is sent. */
  requestStop(): void;
}

/** What a handler is given beside its params. */
export interface NodeContext extends NodeServices {
  readonly dialect: Dialect;
  /** True on a restricted port, which returns less and accepts less. */
  readonly restricted: boolean;
  /** IP address of the caller. */
  readonly remoteAddress: string;
  /** Aborted when the caller leaves: long work that only reads ends then. */
  readonly signal: AbortSignal;
  /** Counts the rows that are read for the caller, in work that takes several turns. */
  readonly rows: RowMeter;
  /** Counts processor time that is used for the caller, in this thread or another, after its call has first waited. */
  readonly onWork: (milliseconds: number) => void;
}

/** What is answered, in place of an error, while the chain is being fetched. */
export const busy = { status: "BUSY" } as const;

/** Throws while the chain is being fetched; for calls whose caller would act on what is not the top. */
export function checkNotBusy({ peers }: NodeContext): void {
  if (!peers.sync.isSynchronized) throw refusal("coreBusy", "Core is busy");
}
