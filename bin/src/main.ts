import { setFlagsFromString } from "node:v8";
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

/**
 * New objects of each thread get 2 MiB, where V8 would take 32 for good as soon as much is read at once. Measured on a
 * sync: 34 MiB less, in the same time; on a wallet service with 100 wallets 29 MiB less. So little is collected by one
 * thread: to divide it among several takes longer than it saves. Measured on that service: 4 % less of the processor.
 * Functions are optimised after three times the usual work: most of those that a start or a few payments would have
 * compiled are not needed for long. Measured: a start takes 230 instead of 280 ms of the processor and 4 MiB less, the
 * first 100 payments 6.4 instead of 7.3 ms each, later ones the same.
 * The few buffers of a small new space are freed at once: to wake another thread for them takes longer than the rest of
 * the collection. Measured beside other work on a wallet service with 100 wallets that follow blocks: 0.7 instead of 3 ms
 * a collection.
 */
function tuneEngine(): void {
  keepNewSpacesSmall();
  // V8 sets the factor to 2 again whenever the heap of another thread is set up.
  process.on("worker", (worker) => worker.once("online", keepNewSpacesSmall));
  setFlagsFromString("--no-parallel-scavenge");
  setFlagsFromString("--no-concurrent-array-buffer-sweeping");
  setFlagsFromString(compileLater);
}

/** V8 counts calls of a function since version 12, where its former flag is an error on every start. */
const compileLater =
  Number.parseInt(process.versions.v8, 10) < 12
    ? "--interrupt-budget=400000"
    : "--invocation-count-for-turbofan=9000";

const isService = (name: string): boolean => name === "node" || name === "wallet";

function keepNewSpacesSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

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
