import { tuneEngine } from "./engine.ts";
import { BadUsage } from "./flags.ts";

const usage = `anulo node    [flags]   a Monero node (as monerod)
anulo node COMMAND [flags]   status, peers, block, .. of a node that runs; anulo node help lists them
anulo wallet  [flags]   a wallet service (as monero-wallet-rpc)
anulo wallet backup|restore FOLDER [flags]   copies of wallets, also while their service runs
anulo wallet unused [flags]                  what a store has of wallets whose keys files are gone
anulo import  [flags]   the chain of a monerod, or of its blockchain.raw, into ours
anulo export  [flags]   our chain as blockchain.raw, for monero-blockchain-import
anulo devnet  [flags]   both on a private chain, with two wallets that pay each other

anulo completion bash|zsh|fish   what a shell reads to complete commands and flags

anulo COMMAND --help, or anulo help COMMAND, shows the flags of a command; anulo --version what this is.
`;

/** A command's module is loaded only when it is used. */
const commands: { readonly [name: string]: () => Promise<(args: readonly string[]) => Promise<void>> } = {
  node: async () => (await import("./node.ts")).runNode,
  wallet: async () => (await import("./wallet.ts")).runWallet,
  import: async () => (await import("./import.ts")).runImport,
  export: async () => (await import("./export.ts")).runExport,
  devnet: async () => (await import("./devnet.ts")).runDevnet,
};

const isService = (name: string): boolean => name === "node" || name === "wallet";

async function main([name = "", ...args]: readonly string[]): Promise<void> {
  if (name === "help" && args[0] !== undefined) return await main([args[0], "--help"]);
  if (["--help", "-h", "help"].includes(name)) {
    process.stdout.write(usage);
    return;
  }
  if (["--version", "-v"].includes(name)) {
    process.stdout.write((await import("./service-flags.ts")).versionText);
    return;
  }
  if (name === "completion") {
    process.stdout.write(await completion(args[0]));
    return;
  }
  if (isService(name)) tuneEngine();
  const [command] = args;
  if (name === "node" && command !== undefined && !command.startsWith("-")) {
    const { remoteHelp, runRemote } = await import("./remote-node.ts");
    if (command === "help") process.stdout.write(`anulo node COMMAND [flags]\n\n${remoteHelp()}\n`);
    else await runRemote(command, args.slice(1));
    return;
  }
  if (name === "wallet" && command !== undefined) {
    if (command === "unused") return await (await import("./unused-wallets.ts")).runUnused(args.slice(1));
    const { isCopyCommand, runCopies } = await import("./wallet-copies.ts");
    if (isCopyCommand(command)) return await runCopies(command, args.slice(1));
  }
  const load = commands[name];
  if (load === undefined) throw new BadUsage(`unknown command: ${name || "none"}\n\n${usage}`);
  await (await load())(args);
}

async function completion(shell: string | undefined): Promise<string> {
  const { completionFor } = await import("./completion.ts");
  const [node, wallet, imports, exports, devnet] = await Promise.all([
    import("./node.ts"),
    import("./wallet.ts"),
    import("./import.ts"),
    import("./export.ts"),
    import("./devnet.ts"),
  ]);
  return completionFor(shell, {
    node: node.nodeFlags,
    wallet: wallet.walletFlags,
    import: imports.importFlags,
    export: exports.exportFlags,
    devnet: devnet.devnetFlags,
    help: {},
    completion: {},
  });
}

/** Errors that the user can correct: these are printed as one line, bugs with their stack. */
const mendable = new Set([
  "BadUsage",
  "BadSource",
  "WrongDatabase",
  "DamagedDatabase",
  "DatabaseInUse",
  "WriteFailed",
  "CallFailed",
  "PaymentMissing",
]);

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // For example a port in use, or a folder that cannot be written.
  const isOfSystem = "syscall" in error;
  return mendable.has(error.name) || isOfSystem ? error.message : (error.stack ?? error.message);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`anulo: ${describe(error)}\n`);
  process.exitCode = 1;
}
