import { NotYetSupported } from "@anulo/node";
import { BadUsage } from "./flags.ts";

const usage = `anulo node    [flags]   a Monero node (as monerod)
anulo wallet  [flags]   a wallet service (as monero-wallet-rpc)
anulo devnet  [flags]   both on a private chain, with two wallets that pay each other

anulo COMMAND --help shows the flags of a command.
`;

/** A command is loaded when it is asked for, so that none pays for the others. */
const commands: { readonly [name: string]: () => Promise<(args: readonly string[]) => Promise<void>> } = {
  node: async () => (await import("./node.ts")).runNode,
  wallet: async () => (await import("./wallet.ts")).runWallet,
  devnet: async () => (await import("./devnet.ts")).runDevnet,
};

async function main([name = "", ...args]: readonly string[]): Promise<void> {
  if (["--help", "-h", "help"].includes(name)) {
    process.stdout.write(usage);
    return;
  }
  const load = commands[name];
  if (load === undefined) throw new BadUsage(`unknown command: ${name || "none"}\n\n${usage}`);
  await (await load())(args);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  // What the caller can mend gets one line, a bug its stack.
  const isExpected = error instanceof BadUsage || error instanceof NotYetSupported || isSystemError(error);
  const text = error instanceof Error ? (isExpected ? error.message : (error.stack ?? error.message)) : error;
  process.stderr.write(`anulo: ${text}\n`);
  process.exitCode = 1;
}

/** A port in use, a folder that cannot be written. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}
