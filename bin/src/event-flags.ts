import { dirname, join, resolve } from "node:path";
import type { WalletServiceOptions } from "@anulo/wallet";
import { BadUsage, type FlagTable, type Values } from "./flags.ts";

/** Flags about the events of wallets. */
export const eventFlags = {
  events: { kind: "switch", help: "keep a log of what happens in the wallets" },
  "events-to": {
    kind: "text",
    value: "ADDRESS",
    help: "publish the events to NATS JetStream, nats://.. or tls://..",
  },
  "allow-private-webhooks": { kind: "switch", help: "send webhooks to addresses that are not public too" },
  "keep-events": { kind: "number", value: "DAYS", help: "remove events that are older (kept for ever)" },
} as const satisfies FlagTable;

type Flags = Values<typeof eventFlags> & {
  readonly "wallet-dir"?: string | undefined;
  readonly "wallet-file"?: string | undefined;
  readonly "service-key-file"?: string | undefined;
  readonly "accept-older-store"?: boolean | undefined;
};

/** Name of the folder, beside the wallets. */
const FOLDER = ".anulo-events";
const SECONDS_PER_DAY = 86_400;

/** Returns the options of the flags; undefined if no events are kept. Throws BadUsage. */
export function eventLogOf(flags: Flags): WalletServiceOptions["eventLog"] {
  const { "events-to": natsAddress, "keep-events": days, "allow-private-webhooks": allowsPrivate } = flags;
  if (!flags.events) {
    if (natsAddress !== undefined || days !== undefined || allowsPrivate)
      throw new BadUsage("--events-to, --keep-events and --allow-private-webhooks go with --events");
    return undefined;
  }
  if (days === 0) throw new BadUsage("--keep-events must not be 0");
  const { "wallet-dir": folder, "wallet-file": file } = flags;
  const beside = folder ?? (file === undefined ? "." : dirname(file));
  return {
    folder: join(resolve(beside), FOLDER),
    keyFile: flags["service-key-file"],
    natsAddress,
    allowsPrivateWebhooks: allowsPrivate,
    keepSeconds: days === undefined ? undefined : days * SECONDS_PER_DAY,
    acceptsOlder: flags["accept-older-store"],
  };
}
