import { existsSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { backupWallets, openStoreForCopies, restoreWallets, WalletRefusal } from "@anulo/wallet";
import { environmentHelp, fromEnvironment } from "./configuration.ts";
import {
  BadUsage,
  type FlagTable,
  formatFlags,
  readWords,
  throwUsage,
  type Values,
  valuesOf,
} from "./flags.ts";
import { ownStoreOf, storeFor } from "./ledger-store-flags.ts";

/** Flags of the commands that copy wallets and put them back. */
const flagsOfCopies = {
  help: { kind: "switch", help: "show this" },
  "wallet-dir": { kind: "text", value: "FOLDER", help: "the folder of the wallets (needed)" },
  store: { kind: "text", value: "LOCATION", help: "the --store of their service, if it was named" },
  wallet: { kind: "text", value: "NAME", help: "this wallet alone; without it all" },
  replace: { kind: "switch", help: "restore: put copies in place of wallets that are there" },
} as const satisfies FlagTable;

const commands = {
  backup: {
    words: "anulo wallet backup FOLDER [flags]",
    about:
      "Copies wallets into a new folder, with what they know, encrypted as they are. Services go on meanwhile. Keys of\n" +
      "multisig nonces are left out.",
  },
  restore: {
    words: "anulo wallet restore FOLDER [flags]",
    about:
      "Puts copies back. A service that had come further than a copy says so and opens it only with\n" +
      "--accept-older-store. Wallets that are there must be closed.",
  },
} as const;

export type CopyCommand = keyof typeof commands;

export const isCopyCommand = (name: string | undefined): name is CopyCommand =>
  name !== undefined && Object.hasOwn(commands, name);

/** `anulo wallet backup` and `anulo wallet restore`. Throws BadUsage. */
export async function runCopies(command: CopyCommand, args: readonly string[]): Promise<void> {
  const { words, about } = commands[command];
  const copies = args[0]?.startsWith("-") === false ? args[0] : undefined;
  const rest = copies === undefined ? args : args.slice(1);
  const flags = valuesOf(flagsOfCopies, [
    readWords(flagsOfCopies, rest),
    fromEnvironment(flagsOfCopies, process.env),
  ]);
  if (flags.help) {
    process.stdout.write(`${words}\n\n${about}\n\n${formatFlags(flagsOfCopies)}\n\n${environmentHelp}\n`);
    return;
  }
  const { "wallet-dir": folder } = flags;
  if (copies === undefined || folder === undefined) throw new BadUsage(`${words}, with --wallet-dir`);
  await copy(command, { copies: resolve(copies), folder: resolve(folder), flags }).catch((error: unknown) =>
    throwUsage(`anulo wallet ${command}`, WalletRefusal, error),
  );
}

async function copy(
  command: CopyCommand,
  order: { readonly copies: string; readonly folder: string; readonly flags: Values<typeof flagsOfCopies> },
): Promise<void> {
  const { copies, folder, flags } = order;
  const from = command === "backup" ? folder : copies;
  if (!existsSync(from)) throw new BadUsage(`there is no folder ${from}`);
  const { wallet: only, replace: replaces } = flags;
  // Rows are put back into the folder's own store even where it has none yet.
  const hasRows = command === "restore" && readdirSync(copies).some((name) => name.endsWith(".rows"));
  const store = storeFor(folder, flags.store) ?? (hasRows ? ownStoreOf(folder) : undefined);
  const engine = store === undefined ? undefined : await openStoreForCopies(store, command === "restore");
  try {
    const place = { folder, copies, engine };
    const { count, failures } =
      command === "backup"
        ? await backupWallets(place, only)
        : await restoreWallets(place, { only, replaces });
    for (const { name, reason } of failures) process.stderr.write(`${name}: ${reason}\n`);
    process.stdout.write(
      `${command === "backup" ? "copied" : "restored"} ${count} of ${count + failures.length}\n`,
    );
    if (failures.length > 0) process.exitCode = 1;
  } finally {
    await engine?.close();
  }
}
