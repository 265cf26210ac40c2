import { BadBootstrap, type BootstrapChoice, readChoice } from "@anulo/node";
import { type FlagTable, throwUsage, type Values } from "./flags.ts";
import { parseLogin } from "./service-flags.ts";

/** Flags about the node that responds while this one is behind, with the original's names. */
export const bootstrapFlags = {
  "bootstrap-daemon-address": {
    kind: "text",
    value: "ADDRESS:PORT|auto",
    help: "a node to answer RPC, not trusted, while this one is behind (auto: public ones)",
  },
  "bootstrap-daemon-login": { kind: "text", value: "USER:PASSWORD", help: "its HTTP digest login" },
  "bootstrap-daemon-proxy": {
    kind: "text",
    value: "[socks5://[USER:PASSWORD@]]ADDRESS:PORT",
    help: "SOCKS proxy to reach it through; --proxy goes before it",
  },
} as const satisfies FlagTable;

/** The bootstrap node of the flags, if any. Throws BadUsage. */
export function bootstrapOf(flags: Values<typeof bootstrapFlags>): BootstrapChoice | undefined {
  const login = flags["bootstrap-daemon-login"];
  const choice = {
    address: flags["bootstrap-daemon-address"] ?? "",
    login: login === undefined ? undefined : parseLogin(login, "bootstrap-daemon-login"),
    proxy: flags["bootstrap-daemon-proxy"],
  };
  try {
    return readChoice(choice) && choice;
  } catch (error) {
    return throwUsage("--bootstrap-daemon-*", BadBootstrap, error);
  }
}
