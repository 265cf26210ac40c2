import type { Exact, ExactObject } from "@anulo/devnet";
import { call } from "@anulo/devnet";
import { createNode } from "@anulo/node";
import { createWalletService, type WalletServiceOptions } from "@anulo/wallet";
import { testStore } from "../programs/test-store.ts";

/** Calls a method of a wallet service. */
export type Ask = (method: string, params?: Exact) => Promise<ExactObject>;

const listen = [{ host: "127.0.0.1", port: 0 }];

/** A node in this process, of a private chain whose every block has difficulty 1. */
export async function startNodeInProcess(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const node = createNode({
    network: "regtest",
    fixedDifficulty: 1n,
    offline: true,
    listen,
    verifyThreads: 0,
  });
  await node.start();
  return { url: node.urls[0]!, stop: () => node.stop() };
}

/** What is put between wallets and their store. */
type Watch = NonNullable<WalletServiceOptions["store"]>["watch"];

/** A wallet service in this process, with its wallets in a folder. */
export async function startWalletsInProcess(
  walletDirectory: string,
  nodeUrl: string,
  watch?: Watch,
): Promise<{ readonly ask: Ask; stop(): Promise<void> }> {
  const { store } = testStore(walletDirectory);
  const service = await createWalletService({
    listen,
    walletDirectory,
    ...(store !== undefined && { store: { ...store, watch } }),
    daemon: { url: nodeUrl },
    trustedDaemon: true,
    network: "regtest",
    refreshPeriod: 0,
  });
  return { ask: (method, params = {}) => call(service.url, method, params), stop: () => service.stop() };
}
