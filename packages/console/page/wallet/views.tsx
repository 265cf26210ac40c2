import { WalletProofsPage } from "../proofs/proofs.tsx";
import type { View } from "../view.ts";
import { EventsPage } from "./events.tsx";
import { WalletPage } from "./wallet.tsx";
import { WalletsPage } from "./wallets.tsx";

/** What the console shows of a wallet service. */
export const walletViews: readonly View[] = [
  { path: "", name: "Wallets", holds: ["wallet"], Page: WalletsPage },
  { path: "events", name: "Events", Page: EventsPage },
  { path: "proofs", name: "Proofs", Page: WalletProofsPage },
  { path: "wallet", Page: WalletPage },
];
