import { NodeProofsPage } from "../proofs/proofs.tsx";
import type { View } from "../view.ts";
import { BlockPage } from "./block.tsx";
import { ChainsPage } from "./chains.tsx";
import { OverviewPage } from "./overview.tsx";
import { PeersPage } from "./peers.tsx";
import { PoolPage } from "./pool.tsx";
import { TransactionPage } from "./transaction.tsx";

/** What the console shows of a node. */
export const nodeViews: readonly View[] = [
  { path: "", name: "Overview", holds: ["block", "tx"], Page: OverviewPage },
  { path: "pool", name: "Pool", Page: PoolPage },
  { path: "chains", name: "Side chains", Page: ChainsPage },
  { path: "peers", name: "Peers", Page: PeersPage },
  { path: "proofs", name: "Proofs", Page: NodeProofsPage },
  { path: "block", Page: BlockPage },
  { path: "tx", Page: TransactionPage },
];
