import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { call } from "./call.ts";
import type { DevnetKeys } from "./keys.ts";
import type { DevnetOptions } from "./options.ts";
import { type OpenedWallet, type OwnProcess, saveOriginals } from "./original-state.ts";
import { findOriginals, knowsFlag, type OriginalPaths } from "./programs/find.ts";
import { freePorts } from "./programs/free-port.ts";
import { launch, type Program } from "./programs/launch.ts";
import type { Programs } from "./programs.ts";
import { createSeededRandom } from "./random.ts";

const LOCAL = "127.0.0.1";

type Command = { readonly command: string; readonly args: readonly string[]; readonly port: number };

function processOf({ folder, ...command }: Command & { readonly folder: string }): OwnProcess {
  let running: Program | undefined;
  return {
    folder,
    url: `http://${LOCAL}:${command.port}`,
    start: async () => {
      running = await launch(command);
    },
    stop: async () => {
      await running?.stop();
      running = undefined;
    },
  };
}

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
    nodeUrl: node.url,
    random: createSeededRandom(`anulo devnet ${options.seed ?? 1} chain`),
    openWallet: async (name, keys, daemonUrl) => {
      const wallet = await startWallet(paths, { folder: join(folder, name), daemonUrl, flags });
      wallets.push({ ...wallet, name });
      await restore(wallet, name, keys);
      return wallet.url;
    },
    save: () => saveOriginals({ node, wallets, folder, stopAll }),
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

async function restore({ url }: OwnProcess, name: string, { mnemonic }: DevnetKeys): Promise<void> {
  await call(url, "restore_deterministic_wallet", {
    filename: name,
    password: "",
    seed: mnemonic,
    restore_height: 0,
  });
}
