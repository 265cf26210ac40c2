import type { WalletServiceOptions } from "@anulo/wallet";
import { BadUsage, type FlagTable, type Values } from "./flags.ts";

/** Flags about processes that serve the same wallets. */
export const fleetFlags = {
  fleet: {
    kind: "text",
    value: "HOST:PORT",
    help: "share the wallets with other processes, which reach this one there (port 0: any free one)",
  },
} as const satisfies FlagTable;

type Flags = Values<typeof fleetFlags> & {
  readonly "wallet-dir"?: string | undefined;
  readonly "wallet-file"?: string | undefined;
  readonly "generate-from-json"?: string | undefined;
  readonly "service-key-file"?: string | undefined;
  readonly store?: string | undefined;
  readonly tokens?: boolean | undefined;
};

/** Returns the options of the flags; undefined for a service that does not share its wallets. Throws BadUsage. */
export function fleetOf(flags: Flags): WalletServiceOptions["fleet"] {
  const { fleet: address } = flags;
  if (address === undefined) return undefined;
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(address) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(digits) > 65_535) throw new BadUsage("--fleet needs HOST:PORT");
  if (/^[0.:]+$/.test(host))
    throw new BadUsage("--fleet needs the address at which the others reach this process, not all of them");
  if (!/^postgres(?:ql)?:\/\//.test(flags.store ?? ""))
    throw new BadUsage("--fleet needs --store postgres://..");
  if (flags["wallet-dir"] === undefined || flags["service-key-file"] === undefined)
    throw new BadUsage("--fleet needs --wallet-dir and --service-key-file, the same for all processes");
  if (flags["wallet-file"] !== undefined || flags["generate-from-json"] !== undefined)
    throw new BadUsage("--fleet goes with neither --wallet-file nor --generate-from-json");
  if (flags.tokens)
    throw new BadUsage("--fleet does not go with --tokens: what they allow is counted by one process");
  return { host, port: Number(digits) };
}
