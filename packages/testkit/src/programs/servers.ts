import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePorts, knowsFlag, launch, type Program } from "@anulo/devnet";
import type { Dialect } from "@anulo/rpc";
import { writeMonerodWithForks } from "./moved-forks.ts";
import { originalProgram, type Release } from "./releases.ts";
import { testStoreFlags } from "./test-store.ts";

/** Whose programs: the original ones, or ours (`anulo node`, `anulo wallet`), which take the same flags. */
export type Maker =
  | {
      readonly kind: "real";
      /** Left out: the one installed. */
      readonly release?: Release;
    }
  | {
      readonly kind: "ours";
      readonly dialect?: Dialect;
      /** Path of the `bin/anulo.js` of another build. */
      readonly entry?: string;
    };

export type RunningDaemon = Program & {
  readonly url: string;
  readonly port: number;
  /** Where peers reach it, unless it speaks to none. */
  readonly p2pPort: number;
  readonly restrictedUrl: string | undefined;
  readonly dataDir: string;
};

export type RunningWallet = Program & {
  readonly url: string;
  readonly port: number;
  readonly walletDir: string;
};

export type DaemonOptions = {
  readonly restricted?: boolean;
  /** A stagenet whose hard forks, from version 2 on, begin at these heights; else regtest. The originals only. */
  readonly forkHeights?: readonly number[];
  /** Difficulty of every block, 1 unless given; 0 lets it follow from the chain. */
  readonly difficulty?: number | bigint;
  readonly env?: Readonly<Record<string, string>>;
  /** Where it publishes over ZeroMQ; left out, nowhere. */
  readonly publishAt?: readonly string[];
  readonly extra?: readonly string[];
  /** A folder to open and keep; without it a new one, removed at the stop. */
  readonly dataDir?: string;
  readonly port?: number;
  /** Flags in place of `--rpc-ssl disabled`. */
  readonly tls?: readonly string[];
  /** Nodes (`127.0.0.1:port`) to speak to, beside those that come by themselves; left out, it speaks to none. */
  readonly peers?: readonly string[];
  /** Where peers reach it: a port, and an address of this machine (127.0.0.1). */
  readonly p2pPort?: number;
  readonly p2pHost?: string;
  /** Kill it (SIGKILL) so many milliseconds after its start, ready or not. */
  readonly killAfterMs?: number;
  /** Flags of Node.js, before our program. */
  readonly nodeFlags?: readonly string[];
  /** A command of bash that runs before the program in its process, such as `ulimit -n 200`. */
  readonly shellLimit?: string;
};

export type WalletOptions = {
  /** Where the daemon listens on 127.0.0.1; without it the wallet is offline. */
  readonly daemonPort?: number;
  /** `user:password`, else no login. */
  readonly login?: string;
  /** Flags in place of `--daemon-ssl disabled`. */
  readonly daemonTls?: readonly string[];
  readonly extra?: readonly string[];
  readonly walletDir?: string;
  /** Programs that check hard forks are not configured for those of a private chain. */
  readonly checksForks?: boolean;
  /** Flags in place of `--wallet-dir`. */
  readonly first?: readonly string[];
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
};

const anulo = fileURLToPath(new URL("../../../../../bin/anulo.js", import.meta.url));
const realPrograms = { node: "monerod", wallet: "monero-wallet-rpc" } as const;

function commandOf(maker: Maker, part: "node" | "wallet"): { command: string; args: string[] } {
  if (maker.kind === "real") return { command: originalProgram(realPrograms[part], maker.release), args: [] };
  const dialect = maker.dialect === undefined ? [] : ["--rpc-dialect", maker.dialect];
  return { command: process.execPath, args: [maker.entry ?? anulo, part, ...dialect] };
}

type Command = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

/** Debian's build ends itself when it compiles programs of CryptoNight-R (hard forks 10 and 11). */
const interpretedCryptonight = { MONERO_USE_CNV4_JIT: "0" };

/** The real one forgets a regtest chain at its start without this flag. */
function keptChain({ kind }: Maker): string[] {
  return kind === "real" ? ["--keep-fakechain"] : [];
}

function nodeCommand(maker: Maker, { forkHeights }: DaemonOptions, folder: string): Command {
  const { command, args } = commandOf(maker, "node");
  if (forkHeights === undefined) return { command, args: [...args, "--regtest", ...keptChain(maker)] };
  if (maker.kind !== "real") throw new Error("only the real program is changed to have other fork heights");
  const changed = join(folder, "monerod-with-moved-forks");
  writeMonerodWithForks(changed, forkHeights, maker.release);
  return { command: changed, args: ["--stagenet", "--fast-block-sync", "0"], env: interpretedCryptonight };
}

/** Whom a node speaks to; with nobody to call, an address where nobody is keeps it from calling others. */
function peerFlags({ peers }: DaemonOptions): string[] {
  if (peers === undefined) return ["--offline"];
  const called = peers.length === 0 ? ["127.0.0.1:1"] : peers;
  const local = ["--allow-local-ip", "--max-connections-per-ip", "100"];
  return [...local, ...called.flatMap((address) => ["--add-exclusive-node", address])];
}

/** The original does not publish without its RPC. */
function zmqFlags({ publishAt }: DaemonOptions, rpcPort: number): string[] {
  if (publishAt === undefined) return ["--no-zmq"];
  return ["--zmq-rpc-bind-port", `${rpcPort}`, ...publishAt.flatMap((endpoint) => ["--zmq-pub", endpoint])];
}

/** Starts a node for a private chain, without peers by default, on a free port of 127.0.0.1. */
export async function startDaemon(maker: Maker, options: DaemonOptions = {}): Promise<RunningDaemon> {
  const [freePort, restrictedPort, freePeerPort, zmqRpcPort] = await freePorts(4);
  const port = options.port ?? freePort!;
  const p2pPort = options.p2pPort ?? freePeerPort!;
  const folder = scratchFolder(options.dataDir);
  const { command, args, env = {} } = nodeCommand(maker, options, folder.path);
  const limit = options.shellLimit;
  const program = await launch({
    command: limit === undefined ? command : "bash",
    port,
    env: { ...env, ...options.env },
    ...(options.killAfterMs !== undefined && { killAfterMs: options.killAfterMs }),
    args: [
      ...(limit === undefined ? [] : ["-c", `${limit}; exec "$0" "$@"`, command]),
      ...(maker.kind === "ours" ? (options.nodeFlags ?? []) : []),
      ...args,
      ...["--fixed-difficulty", `${options.difficulty ?? 1}`, "--no-igd", "--non-interactive"],
      ...zmqFlags(options, zmqRpcPort!),
      ...peerFlags(options),
      ...["--disable-dns-checkpoints", "--check-updates", "disabled", "--log-level", "0"],
      ...["--rpc-bind-ip", "127.0.0.1", "--rpc-bind-port", `${port}`],
      ...(options.tls ?? ["--rpc-ssl", "disabled"]),
      ...[
        "--p2p-bind-ip",
        options.p2pHost ?? "127.0.0.1",
        "--p2p-bind-port",
        `${p2pPort}`,
        "--data-dir",
        folder.path,
      ],
      ...(options.restricted
        ? ["--rpc-restricted-bind-ip", "127.0.0.1", "--rpc-restricted-bind-port", `${restrictedPort}`]
        : []),
      ...(options.extra ?? []),
    ],
  }).catch(folder.removeAndThrow);
  return {
    ...withCleanup(program, folder),
    url: `http://127.0.0.1:${port}`,
    port,
    p2pPort,
    restrictedUrl: options.restricted ? `http://127.0.0.1:${restrictedPort}` : undefined,
    dataDir: folder.path,
  };
}

const ANY_FORKS = "--allow-mismatched-daemon-version";
/** Whether a program on PATH, by name, knows that flag: to ask one of 0.18.0.0 takes a second of processor time. */
const programsWithFlag = new Map<string, Promise<boolean>>();

/**
 * Wallets of today take the node of a private chain for one that missed hard forks, and scan nothing without this flag.
 * The one on PATH may be of any release.
 */
async function anyForks(maker: Maker, program: string): Promise<string[]> {
  if (maker.kind === "ours" || maker.release === "today") return [ANY_FORKS];
  const isKnown = programsWithFlag.get(program) ?? knowsFlag(program, ANY_FORKS);
  programsWithFlag.set(program, isKnown);
  return (await isKnown) ? [ANY_FORKS] : [];
}

/** Starts a wallet service on a free port of 127.0.0.1. */
export async function startWallet(maker: Maker, options: WalletOptions = {}): Promise<RunningWallet> {
  const [freePort] = await freePorts(1);
  const port = options.port ?? freePort!;
  const folder = scratchFolder(options.walletDir);
  const { command, args } = commandOf(maker, "wallet");
  const forks = options.checksForks ? [] : await anyForks(maker, command);
  const program = await launch({
    command,
    port,
    ...(options.env !== undefined && { env: options.env }),
    args: [
      ...args,
      ...forks,
      ...(options.first ?? ["--wallet-dir", folder.path]),
      ...(maker.kind === "ours" ? testStoreFlags() : []),
      ...["--rpc-bind-ip", "127.0.0.1", "--rpc-bind-port", `${port}`],
      ...["--rpc-ssl", "disabled", "--no-dns", "--non-interactive"],
      ...(options.daemonTls ?? ["--daemon-ssl", "disabled"]),
      ...["--trusted-daemon", "--log-level", "0", "--log-file", join(folder.path, "service.log")],
      ...["--daemon-address", `127.0.0.1:${options.daemonPort ?? 1}`],
      ...(options.login === undefined ? ["--disable-rpc-login"] : ["--rpc-login", options.login]),
      ...(options.extra ?? []),
    ],
  }).catch(folder.removeAndThrow);
  return { ...withCleanup(program, folder), url: `http://127.0.0.1:${port}`, port, walletDir: folder.path };
}

type Folder = { readonly path: string; remove(): void; removeAndThrow(error: unknown): never };

function scratchFolder(folder: string | undefined): Folder {
  const path = folder ?? mkdtempSync(join(tmpdir(), "anulo-"));
  const remove = () => {
    if (folder === undefined) rmSync(path, { recursive: true, force: true });
  };
  return {
    path,
    remove,
    removeAndThrow: (error) => {
      remove();
      throw error;
    },
  };
}

function withCleanup(program: Program, folder: Folder): Program {
  return {
    ...program,
    stop: (graceMs) => program.stop(graceMs).then(folder.remove),
    kill: () => program.kill().then(folder.remove),
  };
}
