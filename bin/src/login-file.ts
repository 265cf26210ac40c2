import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Login } from "@anulo/rpc";

/**
 * Creates a login for this run, in the file where clients of the original look for it; only its owner can read the
 * file, which is deleted when the process ends. Source: wallet_rpc_server.cpp `init`.
 */
export function makeLogin(port: number): Login {
  const login = { user: "monero", password: randomBytes(16).toString("base64") };
  const file = join(process.cwd(), `monero-wallet-rpc.${port}.login`);
  rmSync(file, { force: true });
  // A new file, so that a process that has the old one open cannot read the new login.
  writeFileSync(file, `${login.user}:${login.password}`, { mode: 0o600, flag: "wx" });
  process.once("exit", () => rmSync(file, { force: true }));
  return login;
}
