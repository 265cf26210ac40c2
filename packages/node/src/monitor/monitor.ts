import type { RpcServer, RpcSource } from "@anulo/rpc";
import type { OpenChain } from "../chain/open-chain.ts";
import type { ChainParts } from "../chain/parts.ts";
import type { Miner } from "../mining/miner.ts";
import type { Peering } from "../peer-network.ts";
import type { Pow } from "../pow/pow.ts";

/** What has happened to the chain since the start. */
export interface ChainCounts {
  blocksAdded: number;
  alternativeBlocks: number;
  reorganisations: number;
  /** Blocks that reorganisations took off. */
  reorganisedBlocks: number;
  poppedBlocks: number;
  transactionsAdded: number;
}

/** What a running node is watched by: every field is read in constant time, or in that of its peers' number. */
export interface NodeMonitor {
  readonly parts: ChainParts;
  readonly counts: ChainCounts;
  readonly peering: Peering;
  readonly pow: Pow;
  readonly miner: Miner;
  readonly server: Pick<RpcServer, "usage" | "connectionCount">;
  /** Whether it never talks to peers. */
  readonly isOffline: boolean;
  /** Why it asks to be stopped. */
  fault(): Error | undefined;
  /** Blocks of the chain that it is bringing itself up to; its own height if it knows no longer one. */
  targetHeight(): number;
  /** Unix seconds of its newest block. */
  topTime(): number;
}

/** Metrics are read from a monitor and from the RPC of its node. */
export interface NodeSource extends RpcSource {
  readonly node: NodeMonitor;
}

export type Watched = Pick<NodeMonitor, "peering" | "pow" | "miner" | "server" | "isOffline" | "fault"> & {
  readonly chain: OpenChain;
};

/** Begins to count what happens to the chain. */
export function createNodeMonitor({ chain, ...watched }: Watched): NodeMonitor {
  const counts: ChainCounts = {
    blocksAdded: 0,
    alternativeBlocks: 0,
    reorganisations: 0,
    reorganisedBlocks: 0,
    poppedBlocks: 0,
    transactionsAdded: 0,
  };
  chain.events.listen((event) => {
    if (event.type === "blockAdded") counts.blocksAdded++;
    else if (event.type === "alternativeBlock") counts.alternativeBlocks++;
    else if (event.type === "transactionAdded") counts.transactionsAdded++;
    else if (event.type === "blocksPopped") counts.poppedBlocks += event.removed;
    else if (event.type === "reorganised") {
      counts.reorganisations++;
      counts.reorganisedBlocks += event.removed;
      counts.blocksAdded += event.added;
    }
  });
  const { parts } = chain;
  const height = () => parts.store.read.height();
  return {
    ...watched,
    parts,
    counts,
    targetHeight: () => Math.max(height(), watched.peering.protocol.sync.target),
    topTime: () => parts.state.view().recentTimestamps(1)[0] ?? 0,
  };
}
