import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { call } from "./call.ts";
import type { DevnetKeys } from "./keys.ts";
import type { DevnetOptions } from "./options.ts";
import { findOriginals, knowsFlag, type OriginalPaths } from "./programs/find.ts";
import { freePorts } from "./programs/free-port.ts";
import { launch, type Program } from "./programs/launch.ts";
import type { Programs } from "./programs.ts";
import { createSeededRandom } from "./random.ts";
import type { SavedState } from "./saved-state.ts";

/** A program that can be stopped and started again on its port with its folder. */
type OwnProcess = {
  readonly port: number;
  readonly folder: string;
  start(): Promise<void>;
  stop(): Promise<void>;
};

type Command = { readonly command: string; readonly args: readonly string[]; readonly port: number };

function processOf({ folder, ...command }: Command & { readonly folder: string }): OwnProcess {
  let running: Program | undefined;
  return {
    folder,
    port: command.port,
    start: async () => {
      running = await launch(command);
    },
    stop: async () => {
      await running?.stop();
      running = undefined;
    },
  };
}

type OpenedWallet = OwnProcess & { readonly name: string };

const LOCAL = "127.0.0.1";

/** Starts the original node, monerod, as a process of its own. */
export async function startOriginal(
  options: DevnetOptions<string>,
  { folder, programs }: { readonly folder: string; readonly programs: string | undefined },
): Promise<Programs> {
  for (const name of ["startTime", "secondsPerBlock", "pages", "dialect", "verifyThreads"] as const)
    if (options[name] !== undefined) throw new RangeError(`the original programs have no ${name}`);
  const paths = findOriginals(programs);
  const [freePort, peerPort] = await freePorts(2);
  const node = await startNode(paths, {
    folder: join(folder, "node"),
    port: options.ports?.node ?? freePort!,
    peerPort: peerPort!,
  });
  const wallets: OpenedWallet[] = [];
  const knowsMismatchFlag = await knowsFlag(paths.wallet, "--allow-mismatched-daemon-version");
  const flags = knowsMismatchFlag ? ["--allow-mismatched-daemon-version"] : [];
  const stopAll = async (): Promise<void> => {
    await Promise.all(wallets.map((wallet) => wallet.stop()));
    await node.stop();
  };
  return {
    node: undefined,
    clock: undefined,
    stopRequested: new Promise<void>(() => undefined),
    nodeUrl: `http://${LOCAL}:${node.port}`,
    random: createSeededRandom(`anulo devnet ${options.seed ?? 1} chain`),
    openWallet: async (name, keys, daemonUrl) => {
      const wallet = await startWallet(paths, { folder: join(folder, name), daemonUrl, flags });
      wallets.push({ ...wallet, name });
      await restore(wallet, name, keys);
      return `http://${LOCAL}:${wallet.port}`;
    },
    save: async () => await saveFolders({ node, wallets, folder, stopAll }),
    stop: stopAll,
  };
}

type NodePlace = { readonly folder: string; readonly port: number; readonly peerPort: number };

async function startNode(paths: OriginalPaths, { folder, port, peerPort }: NodePlace): Promise<OwnProcess> {
  await mkdir(folder, { recursive: true });
  const node = processOf({
    command: paths.node,
    port,
    folder,
    args: [
      ...["--regtest", "--keep-fakechain", "--fixed-difficulty", "1", "--offline", "--data-dir", folder],
      ...["--rpc-bind-ip", LOCAL, "--rpc-bind-port", `${port}`, "--rpc-ssl", "disabled"],
      ...["--p2p-bind-ip", LOCAL, "--p2p-bind-port", `${peerPort}`, "--no-igd", "--no-zmq"],
      ...[
        "--disable-dns-checkpoints",
        "--check-updates",
        "disabled",
        "--non-interactive",
        "--log-level",
        "0",
      ],
    ],
  });
  await node.start();
  return node;
}

type WalletPlace = {
  readonly folder: string;
  readonly daemonUrl: string;
  readonly flags: readonly string[];
};

async function startWallet(
  paths: OriginalPaths,
  { folder, daemonUrl, flags }: WalletPlace,
): Promise<OwnProcess> {
  const [port] = await freePorts(1);
  await mkdir(folder, { recursive: true });
  const wallet = processOf({
    command: paths.wallet,
    port: port!,
    folder,
    args: [
      ...["--wallet-dir", folder, "--log-file", join(folder, "service.log"), "--log-level", "0"],
      ...[
        "--rpc-bind-ip",
        LOCAL,
        "--rpc-bind-port",
        `${port}`,
        "--rpc-ssl",
        "disabled",
        "--disable-rpc-login",
      ],
      ...["--daemon-address", daemonUrl, "--daemon-ssl", "disabled", "--trusted-daemon"],
      ...["--no-dns", "--non-interactive", ...flags],
    ],
  });
  await wallet.start();
  return wallet;
}

async function restore({ port }: OwnProcess, name: string, { mnemonic }: DevnetKeys): Promise<void> {
  await call(`http://${LOCAL}:${port}`, "restore_deterministic_wallet", {
    filename: name,
    password: "",
    seed: mnemonic,
    restore_height: 0,
  });
}

type Originals = {
  readonly node: OwnProcess;
  readonly wallets: readonly OpenedWallet[];
  readonly folder: string;
  stopAll(): Promise<void>;
};

/** Copies of all folders, made and restored while the programs are stopped; then each wallet is open as at the start. */
async function saveFolders({ node, wallets, folder, stopAll }: Originals): Promise<SavedState> {
  const copy = await mkdtemp(join(folder, "saved-"));
  const all = [node, ...wallets];
  const startAgain = async (): Promise<void> => {
    await node.start();
    await Promise.all(
      wallets.map(async (wallet) => {
        await wallet.start();
        await call(`http://${LOCAL}:${wallet.port}`, "open_wallet", { filename: wallet.name, password: "" });
      }),
    );
  };
  const whileStopped = async (task: () => Promise<unknown>): Promise<void> => {
    await stopAll();
    try {
      await task();
    } finally {
      await startAgain();
    }
  };
  const copyOf = (index: number) => join(copy, `${index}`);
  await whileStopped(() =>
    Promise.all(all.map((program, i) => cp(program.folder, copyOf(i), { recursive: true }))),
  );
  return {
    restore: () =>
      whileStopped(() =>
        Promise.all(
          all.map(async (program, i) => {
            await rm(program.folder, { recursive: true, force: true });
            await cp(copyOf(i), program.folder, { recursive: true });
          }),
        ),
      ),
    drop: () => rm(copy, { recursive: true, force: true }),
  };
}
