/** A wallet service for a test: its own folder, no refreshing of its own, everything gone at the end. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Client, createClient, type Dialect, type Log, walletMethods } from "@anulo/rpc";
import type { SocksProxy } from "@anulo/socks";
import { createWalletService } from "../src/create-service.ts";
import type { EventSink } from "../src/events/follower.ts";
import type { LedgerStoreOptions } from "../src/file/ledger-store.ts";
import type { Runtime } from "../src/runtime.ts";
import type { WalletService } from "../src/service.ts";
import { withSharedThreads } from "./shared-threads.ts";

export type TestService = {
  readonly service: WalletService;
  readonly call: Client<typeof walletMethods>;
  readonly folder: string;
  /** Called at the end of the test that was given. */
  readonly stop: () => Promise<void>;
};

export type TestServiceOptions = {
  readonly node?: string;
  readonly proxy?: SocksProxy;
  readonly dialect?: Dialect;
  readonly folder?: string;
  readonly store?: LedgerStoreOptions;
  readonly events?: EventSink;
  readonly log?: Log;
  /** Threads for jobs; with 0 they run in the caller's. */
  readonly concurrency?: number;
  readonly runtime?: Runtime;
  readonly closingMs?: number;
};

/** What a test looks at after a stop must be closed by then, however busy the machine is. */
export const CLOSING_MS = Number.POSITIVE_INFINITY;

export async function startTestService(
  {
    node = "",
    proxy,
    dialect = "upstream",
    folder,
    store,
    events,
    log,
    concurrency,
    runtime = concurrency === undefined ? withSharedThreads() : undefined,
    closingMs = CLOSING_MS,
  }: TestServiceOptions = {},
  test?: TestContext,
): Promise<TestService> {
  const directory = folder ?? mkdtempSync(join(tmpdir(), "anulo-wallet-"));
  const service = await createWalletService({
    listen: [{ host: "127.0.0.1", port: 0 }],
    walletDirectory: directory,
    daemon: { url: node, ...(proxy !== undefined && { proxy }) },
    trustedDaemon: true,
    network: "regtest",
    refreshPeriod: 0,
    dialect,
    closingMs,
    ...(store !== undefined && { store }),
    ...(events !== undefined && { events }),
    ...(log !== undefined && { log }),
    ...(concurrency !== undefined && { concurrency }),
    ...(runtime !== undefined && { runtime }),
  });
  const call = createClient(walletMethods, service.url);
  const stop = async () => {
    call.close();
    await service.stop();
    if (folder === undefined) rmSync(directory, { recursive: true, force: true });
  };
  test?.after(stop);
  return { service, call, folder: directory, stop };
}
