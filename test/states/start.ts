/** Services for the states, of either maker. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { Dialect } from "@anulo/rpc";
import { type Maker, type RunningDaemon, startWallet, testStore } from "@anulo/testkit";
import { closeRuntime, createRuntime, createWalletService } from "@anulo/wallet";
import { file, type Start } from "./states.ts";

/** Where nobody listens. */
const NOBODY = "127.0.0.1:1";

/** Called, last first, when the test is over. */
export type Endings = (() => Promise<void>)[];

function scratch(endings: Endings): string {
  const folder = mkdtempSync(join(tmpdir(), "anulo-states-"));
  endings.push(async () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Whose threads all our services use: to start them for each takes longer than what is asked of it. */
const runtime = createRuntime();
after(() => closeRuntime(runtime));

/** Our services, in this process. */
export function startOurs(node: string, spoken: Dialect, endings: Endings): Start {
  return async (options) => {
    const {
      restricted = false,
      hasDirectory = true,
      isOffline = false,
      walletDir,
      dialect = spoken,
    } = options;
    const folder = walletDir ?? scratch(endings);
    const service = await createWalletService({
      listen: [{ host: "127.0.0.1", port: 0 }],
      ...(hasDirectory && { walletDirectory: folder }),
      ...testStore(folder),
      daemon: { url: `http://${isOffline ? NOBODY : node}` },
      trustedDaemon: true,
      network: "regtest",
      refreshPeriod: 0,
      dialect,
      restricted,
      runtime,
      ...(restricted && { first: { kind: "file", file: join(folder, file.filename), password: "" } }),
    });
    endings.push(() => service.stop());
    return { url: service.url, walletDir: folder, node };
  };
}

/** Programs of the maker that is named. */
export function startPrograms(maker: Maker, daemon: RunningDaemon, endings: Endings): Start {
  return async ({ restricted = false, isOffline = false, walletDir }) => {
    const folder = walletDir ?? scratch(endings);
    const wallet = await startWallet(maker, {
      walletDir: folder,
      ...(!isOffline && { daemonPort: daemon.port }),
      ...(restricted && {
        first: ["--wallet-file", join(folder, file.filename), "--password", ""],
        extra: ["--restricted-rpc"],
      }),
    });
    endings.push(() => wallet.stop());
    return { url: wallet.url, walletDir: folder, node: `127.0.0.1:${daemon.port}` };
  };
}

/** Runs all, last first. */
export async function endAll(endings: Endings): Promise<void> {
  for (const end of endings.splice(0).reverse()) await end();
}
