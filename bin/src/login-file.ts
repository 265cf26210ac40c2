import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Login } from "@anulo/rpc";

/**
 * A login made up for this run, written where clients of the original look for it, readable by its owner alone and
 * gone with the process. Source: wallet_rpc_server.cpp `init`.
 */
export function makeLogin(port: number): Login {
  const login = { user: "monero", password: randomBytes(16).toString("base64") };
  const file = join(process.cwd(), `monero-wallet-rpc.${port}.login`);
  rmSync(file, { force: true });
  // A new file: a process that has the old one open does not see the new login.
  writeFileSync(file, `${login.user}:${login.password}`, { mode: 0o600, flag: "wx" });
  process.once("exit", () => rmSync(file, { force: true }));
  return login;
}
