/** A service that takes tokens, and callers that have some. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createWalletService } from "../src/create-service.ts";
import type { WalletServiceOptions } from "../src/service-options.ts";
import { CLOSING_MS } from "./service.ts";
import { withSharedThreads } from "./shared-threads.ts";

export type Told = { readonly [key: string]: unknown };

export class Refused extends Error {
  readonly code: number;
  readonly status: number;
  constructor(status: number, { code, message }: { readonly code: number; readonly message: string }) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** A caller with a token: by the name of a wallet, or on the path without one. */
export type Asker = (method: string, params?: object, name?: string) => Promise<Told>;

export const askerOf =
  (url: string, token: string): Asker =>
  async (method, params = {}, name = undefined) => {
    const path = name === undefined ? "" : `/wallets/${encodeURIComponent(name)}`;
    const body = JSON.stringify({ jsonrpc: "2.0", id: "0", method, params });
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`${url}${path}/json_rpc`, { method: "POST", body, headers });
    const text = await response.text();
    if (response.status === 401) throw new Refused(401, { code: 0, message: "401" });
    const { result, error } = JSON.parse(text) as { result: Told; error?: { code: number; message: string } };
    if (error !== undefined) throw new Refused(response.status, error);
    return result;
  };

export const everyScope = ["read", "receive", "spend", "secrets", "admin"] as const;

/** Starts a service with wallets a and b, and gives its first token, which may do everything. */
export async function startWithTokens(t: TestContext, options: Partial<WalletServiceOptions> = {}) {
  const folder = options.walletDirectory ?? mkdtempSync(join(tmpdir(), "anulo-access-"));
  const file = join(folder, "first");
  const access = { folder: join(folder, ".anulo-access"), firstTokenFile: file, isOnlyWay: true };
  const service = await createWalletService({
    listen: [{ host: "127.0.0.1", port: 0 }],
    walletDirectory: folder,
    daemon: { url: "" },
    network: "regtest",
    refreshPeriod: 0,
    access,
    closingMs: CLOSING_MS,
    runtime: withSharedThreads(),
    ...options,
  });
  t.after(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const first = readFileSync(file, "utf8").trim();
  const admin = askerOf(service.url, first);
  const language = "English";
  for (const name of ["a", "b"])
    if (options.walletDirectory === undefined)
      await admin("create_wallet", { filename: name, language }, name);
  const make = async (scopes: readonly string[], wallets: readonly string[] = ["*"], more: object = {}) => {
    const { token, token_id } = await admin("create_token", { name: "test", scopes, wallets, ...more });
    return { ask: askerOf(service.url, token as string), text: token as string, id: token_id as string };
  };
  return { service, url: service.url, folder, first, admin, make };
}

export const wrongWallet = { code: -403, message: "Forbidden: this token is not for this wallet" };
export const refusalOf = async (asked: Promise<unknown>) =>
  await asked.then(
    () => undefined,
    ({ code, message, status }: { code: number; message: string; status: number }) => ({
      code,
      message,
      status,
    }),
  );

/** In a folder of its own, which goes once the service has stopped. */
export function eventLogOf(): { readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "anulo-access-events-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return { folder };
}
