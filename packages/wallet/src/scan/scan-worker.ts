/**
 * Entry point of a scan thread: each message is a port to one of the wallets it scans for, until the port is closed.
 */
import { type MessagePort, parentPort } from "node:worker_threads";
import type { ToWorker } from "./messages.ts";
import { NodeFeeds } from "./node-feed.ts";
import { WalletScan } from "./wallet-scan.ts";

if (parentPort === null) throw new Error("the scan worker runs in a worker thread");
const feeds = new NodeFeeds();
parentPort.on("message", (port: MessagePort) => {
  const scan = new WalletScan(port, feeds);
  port.on("message", (message: ToWorker) => scan.receive(message));
  port.on("close", () => scan.close());
});
