/** Scans for the wallets whose messages come by a port, each known by a number until it is closed. */
import type { MessagePort } from "node:worker_threads";
import { GroupedMessages, type MessageGroup } from "./message-groups.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { NodeFeeds } from "./node-feed.ts";
import { WalletScan } from "./wallet-scan.ts";

export function serveScans(port: MessagePort): void {
  const feeds = new NodeFeeds();
  const wallets = new Map<number, WalletScan>();
  const messages = new GroupedMessages<FromWorker>((groups, transfer) => port.postMessage(groups, transfer));
  const receive = (wallet: number, message: ToWorker): void => {
    if (message.kind === "open") {
      const scan = new WalletScan((answer, transfer) => messages.send(wallet, answer, transfer), feeds);
      wallets.set(wallet, scan);
    }
    wallets.get(wallet)?.receive(message);
    if (message.kind === "close") wallets.delete(wallet);
  };
  port.on("message", (groups: readonly MessageGroup<ToWorker>[]) => {
    for (const { wallets: some, message } of groups) for (const wallet of some) receive(wallet, message);
  });
}
