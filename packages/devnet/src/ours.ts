import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createNode } from "@anulo/node";
import { closeRuntime, createRuntime, createWalletService } from "@anulo/wallet";
import { call } from "./call.ts";
import { createClock } from "./clock.ts";
import type { DevnetKeys } from "./keys.ts";
import type { DevnetOptions } from "./options.ts";
import { type Programs, stopEach } from "./programs.ts";
import { createSeededRandom } from "./random.ts";
import { type ServedFolder, saveState } from "./saved-state.ts";

const DEFAULT_LOOKAHEAD = { accounts: 2, addresses: 20 } as const;

/** Starts our own node in this process. */
export async function startOurs(options: DevnetOptions<string>, folder: string): Promise<Programs> {
  const clock = createClock(options);
  const random = createSeededRandom(`anulo devnet ${options.seed ?? 1} chain`);
  const node = createNode({
    network: "regtest",
    fixedDifficulty: 1n,
    offline: true,
    listen: [{ host: "127.0.0.1", port: options.ports?.node ?? 0 }],
    dialect: options.dialect,
    verifyThreads: options.verifyThreads ?? 0,
    pages: options.pages,
    now: clock.now,
    random: random.random,
  });
  await node.start();
  const { read } = node.chain.store;
  clock.height = () => read.height();
  // Starting threads takes longer than most of what tests have them do.
  const runtime = createRuntime({ clock: clock.now, concurrency: 0 });
  const services: ServedFolder[] = [];
  return {
    node,
    nodeUrl: node.urls[0]!,
    stopRequested: node.stopRequested,
    clock,
    random,
    async openWallet(name, keys, daemonUrl) {
      const ownFolder = join(folder, name);
      await mkdir(ownFolder);
      const service = await createWalletService({
        listen: [{ host: "127.0.0.1", port: 0 }],
        walletDirectory: ownFolder,
        daemon: { url: daemonUrl },
        trustedDaemon: true,
        runtime,
        lookahead: options.lookahead ?? DEFAULT_LOOKAHEAD,
        // The folder is deleted with the devnet: no other program will read a cache in it.
        writesOriginalCache: false,
        ...(options.dialect !== undefined && { dialect: options.dialect }),
        ...(options.pages !== undefined && { pages: options.pages }),
      });
      services.push({ service, folder: ownFolder });
      await restore(service.url, name, keys);
      return service.url;
    },
    save: () => saveState({ node, services, clock, random }),
    stop: () =>
      stopEach([
        ...services.map(
          ({ service }) =>
            () =>
              service.stop(),
        ),
        () => closeRuntime(runtime),
        () => node.stop(),
      ]),
  };
}

async function restore(url: string, name: string, { mnemonic }: DevnetKeys): Promise<void> {
  const params = { filename: name, password: "", seed: mnemonic, restore_height: 0 };
  await call(url, "restore_deterministic_wallet", params);
}
