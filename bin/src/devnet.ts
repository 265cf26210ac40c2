import { readConsole } from "@anulo/console";
import {
  type Devnet,
  type DevnetOptions,
  type DevnetWallet,
  type MiningMode,
  startDevnet,
  startDevnetRpc,
} from "@anulo/devnet";
import { ATOMIC_UNITS_PER_COIN, BadAmount, formatAmount, parseAmount } from "@anulo/protocol";
import { BadUsage, type FlagTable, formatFlags, parseFlags, throwUsage, type Values } from "./flags.ts";
import { serviceFlags } from "./service-flags.ts";
import { untilSignalled } from "./until-signalled.ts";

export const devnetFlags = {
  help: serviceFlags.help,
  once: { kind: "switch", help: "end after the first payment has arrived" },
  seed: { kind: "number", value: "N", help: "keys of the wallets, and blocks (1)" },
  wallet: {
    kind: "each",
    value: "NAME[=XMR,..]",
    help: "a wallet, with the outputs it can spend from the start, in place of alice and bob",
  },
  funded: { kind: "switch", help: "ten outputs of 1 XMR for each wallet of which no others are said" },
  miner: { kind: "text", value: "NAME", help: "wallet or address that is paid for blocks" },
  rpc: { kind: "switch", help: "serve devnet_snapshot, devnet_revert, devnet_mine .. by JSON-RPC" },
  "rpc-port": { kind: "number", value: "PORT", help: "port of that JSON-RPC (a free one)" },
  "mine-on-payment": { kind: "switch", help: "mine a block whenever a payment waits" },
  "mine-every": { kind: "number", value: "SECONDS", help: "mine a block every so many seconds" },
  "start-time": {
    kind: "number",
    value: "SECONDS",
    help: "when the chain begins, since 1970; 0: the system's clock",
  },
  programs: {
    kind: "text",
    value: "WHOSE",
    help: "ours, original (monerod and monero-wallet-rpc on PATH), or a folder that has these",
  },
  "node-port": { kind: "number", value: "PORT", help: "port of the node's RPC (a free one)" },
  "alice-port": { kind: "number", value: "PORT", help: "port of alice's wallet service (a free one)" },
  "bob-port": { kind: "number", value: "PORT", help: "port of bob's wallet service (a free one)" },
  "rpc-dialect": serviceFlags["rpc-dialect"],
  console: { kind: "switch", help: "serve a console for browsers under /console of each port" },
} as const satisfies FlagTable;

type Flags = Values<typeof devnetFlags>;
type Tour = Devnet<"alice" | "bob">;

/** Mined coins unlock after 60 blocks; a ring needs 16 unlocked outputs, of which 15 are decoys. */
const blocksUntilSpendable = 80;
/** A received payment unlocks after 10 blocks. */
const blocksUntilUnlocked = 10;
const payment = (123n * ATOMIC_UNITS_PER_COIN) / 100n;
const MS_PER_SECOND = 1000;

class PaymentMissing extends Error {
  override name = "PaymentMissing";

  constructor() {
    super("the payment did not arrive at bob");
  }
}

/** Exit status that a shell reports for a program ended by Ctrl-C. */
const interrupted = 130;

const print = (text: string) => process.stdout.write(`${text}\n`);

/** The first payment: mines until alice can spend, pays bob, mines, and verifies that it arrived. */
async function firstPayment({ mine, wallets: { alice, bob } }: Tour): Promise<void> {
  print(`mining ${blocksUntilSpendable} blocks to alice`);
  await mine(blocksUntilSpendable, alice.name);
  const { balance, unlocked } = await alice.balance();
  print(`alice has ${formatAmount(balance)}, ${formatAmount(unlocked)} of it unlocked`);
  const before = await bob.balance();
  const id = await alice.pay(bob.address, payment);
  print(`alice pays bob ${formatAmount(payment)} in transaction ${id}`);
  const height = await mine(blocksUntilUnlocked, alice.name);
  const received = await bob.balance();
  print(
    `height ${height}: bob has ${formatAmount(received.balance)}, ${formatAmount(received.unlocked)} of it unlocked`,
  );
  if (received.unlocked !== before.unlocked + payment) throw new PaymentMissing();
}

function curl(url: string, method: string, params: string): string {
  return `  curl ${url}/json_rpc -d '{"jsonrpc":"2.0","id":"0","method":"${method}","params":${params}}'`;
}

function printPlaces({ nodeUrl, wallets }: Devnet<string>, rpcUrl: string | undefined): void {
  const all = Object.values<DevnetWallet>(wallets).map(({ name, url }) => [name, url] as const);
  const places = [
    ["node", nodeUrl] as const,
    ...all,
    ...(rpcUrl === undefined ? [] : [["devnet", rpcUrl] as const]),
  ];
  const width = Math.max(...places.map(([name]) => name.length)) + 1;
  print("");
  for (const [name, url] of places) print(`${name.padEnd(width)} ${url}`);
}

function printTour({ nodeUrl, wallets: { alice, bob } }: Tour): void {
  print("\ntry\n");
  print(curl(nodeUrl, "get_info", "{}"));
  print(
    curl(alice.url, "transfer", `{"destinations":[{"address":"${bob.address}","amount":1000000000000}]}`),
  );
  print(curl(nodeUrl, "generateblocks", `{"amount_of_blocks":10,"wallet_address":"${alice.address}"}`));
}

/** The wallets of `--wallet NAME=XMR,XMR`, with their outputs. */
function walletsOf({ wallet, funded }: Flags): { readonly [name: string]: readonly bigint[] } {
  const usual = funded ? Array.from({ length: 10 }, () => ATOMIC_UNITS_PER_COIN) : [];
  const entries = wallet.map((text) => {
    const [name = "", amounts] = text.split("=", 2);
    return [name, amounts === undefined ? usual : amounts.split(",").map(amountOf)] as const;
  });
  return Object.fromEntries(entries);
}

function amountOf(text: string): bigint {
  try {
    return parseAmount(text);
  } catch (error) {
    return throwUsage("--wallet", BadAmount, error);
  }
}

function miningOf({ "mine-on-payment": onPayment, "mine-every": every }: Flags): MiningMode {
  if (onPayment && every !== undefined)
    throw new BadUsage("--mine-on-payment and --mine-every exclude each other");
  if (onPayment) return "payment";
  return every === undefined ? "manual" : { everyMs: every * MS_PER_SECOND };
}

function optionsOf(flags: Flags): DevnetOptions<string> {
  const { seed, miner, programs, "start-time": start } = flags;
  const { "node-port": node, "alice-port": alice, "bob-port": bob } = flags;
  return {
    ...(seed !== undefined && { seed }),
    ...(miner !== undefined && { miner }),
    ...(flags["rpc-dialect"] && { dialect: flags["rpc-dialect"] }),
    ...(flags.console && { pages: readConsole() }),
    ...(start !== undefined && { startTime: start === 0 ? "system" : start }),
    ...(programs !== undefined && {
      programs: programs === "ours" || programs === "original" ? programs : { folder: programs },
    }),
    ...(flags.wallet.length > 0 ? { wallets: walletsOf(flags) } : { funded: flags.funded }),
    mining: miningOf(flags),
    ports: { ...(node && { node }), ...(alice && { alice }), ...(bob && { bob }) },
  };
}

/** `anulo devnet`: a private chain, on which alice pays bob unless other wallets are named. */
export async function runDevnet(args: readonly string[]): Promise<void> {
  const flags = parseFlags(devnetFlags, args);
  if (flags.help) {
    print(`anulo devnet [flags]\n\n${formatFlags(devnetFlags)}`);
    return;
  }
  const options = optionsOf(flags);
  const isTour = flags.wallet.length === 0;
  if (flags.once && !isTour) throw new BadUsage("--once is for alice and bob: it goes without --wallet");
  const signalled = untilSignalled().then(() => "interrupted" as const);
  const devnet = await startDevnet(options).catch((error) => throwUsage("devnet", RangeError, error));
  try {
    const outcome = isTour ? await Promise.race([firstPayment(devnet as Tour), signalled]) : undefined;
    if (outcome === "interrupted") process.exitCode = interrupted;
    if (outcome === "interrupted" || flags.once) return;
    await serve(devnet, flags, signalled);
  } finally {
    await devnet.stop();
  }
}

async function serve(devnet: Devnet<string>, flags: Flags, signalled: Promise<unknown>): Promise<void> {
  const isServed = flags.rpc || flags["rpc-port"] !== undefined;
  const rpc = isServed ? await startDevnetRpc(devnet, flags["rpc-port"]) : undefined;
  try {
    printPlaces(devnet, rpc?.urls[0]);
    if (flags.wallet.length === 0) printTour(devnet as Tour);
    print("\nCtrl-C ends it and forgets everything");
    await Promise.race([signalled, devnet.stopRequested]);
  } finally {
    await rpc?.stop();
  }
}
