import { WalletProofsPage } from "../proofs/proofs.tsx";
import type { View } from "../view.ts";
import { EventsPage } from "./events.tsx";
import { TokensPage } from "./tokens.tsx";
import { WalletPage } from "./wallet.tsx";
import { WalletsPage } from "./wallets.tsx";
import { WebhooksPage } from "./webhooks.tsx";

/** What the console shows of a wallet service. */
export const walletViews: readonly View[] = [
  { path: "", name: "Wallets", holds: ["wallet"], Page: WalletsPage },
  { path: "events", name: "Events", Page: EventsPage },
  { path: "webhooks", name: "Webhooks", Page: WebhooksPage },
  { path: "tokens", name: "Tokens", Page: TokensPage },
  { path: "proofs", name: "Proofs", Page: WalletProofsPage },
  { path: "wallet", Page: WalletPage },
];
