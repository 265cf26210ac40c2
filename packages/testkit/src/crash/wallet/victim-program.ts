/** A wallet service that is told, over the channel to its parent, where to kill itself. */
import { createWalletService } from "@anulo/wallet";
import { arm, type FilePoint, placePoints } from "./points.ts";

/** What the parent says. */
export type Order =
  | { readonly kind: "arm"; readonly point: FilePoint }
  /** Seconds that pass at once. */
  | { readonly kind: "later"; readonly seconds: number };

const [walletDirectory, nodeUrl] = process.argv.slice(2) as [string, string];

await placePoints();
const service = await createWalletService({
  listen: [{ host: "127.0.0.1", port: 0 }],
  walletDirectory,
  daemon: { url: nodeUrl },
  trustedDaemon: true,
  network: "regtest",
  refreshPeriod: 0,
});

const now = Date.now;
let passed = 0;
Date.now = () => now() + passed;

process.on("message", (order: Order) => {
  if (order.kind === "arm") arm(order.point);
  else passed += 1000 * order.seconds;
  process.send?.({ done: true });
});
process.on("disconnect", () => process.exit());
process.send?.({ url: service.url });
