import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Login } from "@anulo/rpc";
import { createWalletService, type WalletServiceOptions } from "@anulo/wallet";
import { configurationHelp, readConfiguration } from "./configuration.ts";
import { daemonFlags, daemonOf } from "./daemon-flags.ts";
import { BadUsage, type FlagTable, formatFlags, type Values } from "./flags.ts";
import { listenersOf, rpcAccessOf } from "./rpc-flags.ts";
import { checkPort, dialectOf, logOf, parseLogin, serviceFlags } from "./service-flags.ts";
import { untilSignalled } from "./until-signalled.ts";

export const walletFlags = {
  ...serviceFlags,
  testnet: { kind: "switch", help: "addresses of testnet" },
  stagenet: { kind: "switch", help: "addresses of stagenet" },
  "wallet-dir": { kind: "text", value: "FOLDER", help: "where wallets are kept (needed)" },
  "rpc-bind-port": { kind: "number", value: "PORT", help: "port of RPC (needed)" },
  "disable-rpc-login": { kind: "switch", help: "ask for no login" },
  "restricted-rpc": { kind: "switch", help: "only what can neither spend nor show secrets" },
  ...daemonFlags,
  "no-dns": { kind: "switch", help: "accepted; no DNS is asked" },
} as const satisfies FlagTable;

type Flags = Values<typeof walletFlags>;

function loginOf(flags: Flags, port: number): Login | undefined {
  if (flags["rpc-login"] !== undefined) return parseLogin(flags["rpc-login"]);
  if (flags["disable-rpc-login"]) return undefined;
  const login = { user: "monero", password: randomBytes(18).toString("base64") };
  // Where clients of monero-wallet-rpc look for it.
  writeFileSync(join(process.cwd(), `monero-wallet-rpc.${port}.login`), `${login.user}:${login.password}`, {
    mode: 0o600,
  });
  return login;
}

function optionsOf(flags: Flags): WalletServiceOptions {
  const { "wallet-dir": walletDirectory, "rpc-bind-port": port } = flags;
  if (walletDirectory === undefined) throw new BadUsage("--wallet-dir is needed");
  if (port === undefined) throw new BadUsage("--rpc-bind-port is needed");
  const login = loginOf(flags, port);
  const network = (["stagenet", "testnet"] as const).find((name) => flags[name]) ?? "mainnet";
  return {
    listen: listenersOf(flags, checkPort("rpc-bind-port", port)),
    ...rpcAccessOf(flags),
    walletDirectory,
    ...daemonOf(flags, network),
    network,
    restricted: flags["restricted-rpc"],
    dialect: dialectOf(flags["rpc-dialect"]),
    ...(login !== undefined && { login }),
    log: logOf(flags),
    ...(flags["max-concurrency"] && { concurrency: flags["max-concurrency"] }),
  };
}

/** `anulo wallet`: runs a wallet service until it is told to stop. */
export async function runWallet(args: readonly string[]): Promise<void> {
  const flags = readConfiguration(walletFlags, args);
  if (flags.help) {
    process.stdout.write(`anulo wallet [flags]\n\n${formatFlags(walletFlags)}\n\n${configurationHelp}\n`);
    return;
  }
  const options = optionsOf(flags);
  const signalled = untilSignalled();
  const service = await createWalletService(options);
  process.stdout.write(`wallet service: ${service.url}\n`);
  await Promise.race([signalled, service.ended]);
  await service.stop();
}
