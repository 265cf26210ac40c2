/** Entry point of a scan thread: messages for the wallets it scans for, each known by a number until it is closed. */
import { parentPort } from "node:worker_threads";
import { GroupedMessages, type MessageGroup } from "./message-groups.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { NodeFeeds } from "./node-feed.ts";
import { WalletScan } from "./wallet-scan.ts";

const port = parentPort;
if (port === null) throw new Error("the scan worker runs in a worker thread");
const feeds = new NodeFeeds();
const wallets = new Map<number, WalletScan>();
const messages = new GroupedMessages<FromWorker>((groups, transfer) => port.postMessage(groups, transfer));

function receive(wallet: number, message: ToWorker): void {
  if (message.kind === "open")
    wallets.set(wallet, new WalletScan((answer, transfer) => messages.send(wallet, answer, transfer), feeds));
  wallets.get(wallet)?.receive(message);
  if (message.kind === "close") wallets.delete(wallet);
}

port.on("message", (groups: readonly MessageGroup<ToWorker>[]) => {
  for (const { wallets: some, message } of groups) for (const wallet of some) receive(wallet, message);
});
