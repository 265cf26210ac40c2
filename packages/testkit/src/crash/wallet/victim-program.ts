/** A wallet service that receives, over the channel to its parent, where to kill itself. */
import { createWalletService } from "@anulo/wallet";
import { testStore } from "../../programs/test-store.ts";
import { arm, type FilePoint, placePoints, watchEngine } from "./points.ts";

/** What the parent says. */
export type Order = { readonly kind: "arm"; readonly point: FilePoint };

const [walletDirectory, nodeUrl] = process.argv.slice(2) as [string, string];

await placePoints();
const { store } = testStore(walletDirectory);
const service = await createWalletService({
  listen: [{ host: "127.0.0.1", port: 0 }],
  walletDirectory,
  ...(store !== undefined && { store: { ...store, watch: watchEngine } }),
  daemon: { url: nodeUrl },
  trustedDaemon: true,
  network: "regtest",
  refreshPeriod: 0,
});

process.on("message", (order: Order) => {
  arm(order.point);
  process.send?.({ done: true });
});
process.on("disconnect", () => process.exit());
process.send?.({ url: service.url });
