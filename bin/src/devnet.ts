import { readConsole } from "@anulo/console";
import { type Devnet, startDevnet } from "@anulo/devnet";
import { ATOMIC_UNITS_PER_COIN, formatAmount } from "@anulo/protocol";
import { type FlagTable, formatFlags, parseFlags } from "./flags.ts";
import { serviceFlags } from "./service-flags.ts";
import { untilSignalled } from "./until-signalled.ts";

export const devnetFlags = {
  help: serviceFlags.help,
  once: { kind: "switch", help: "end after the first payment has arrived" },
  seed: { kind: "number", value: "N", help: "keys of the wallets alice and bob (1)" },
  "node-port": { kind: "number", value: "PORT", help: "port of the node's RPC (a free one)" },
  "alice-port": { kind: "number", value: "PORT", help: "port of alice's wallet service (a free one)" },
  "bob-port": { kind: "number", value: "PORT", help: "port of bob's wallet service (a free one)" },
  "rpc-dialect": serviceFlags["rpc-dialect"],
  console: { kind: "switch", help: "serve a console for browsers under /console of each port" },
} as const satisfies FlagTable;

/** Mined coins unlock after 60 blocks; a ring needs 16 unlocked outputs, of which 15 are decoys. */
const blocksUntilSpendable = 80;
/** A received payment unlocks after 10 blocks. */
const blocksUntilUnlocked = 10;
const payment = (123n * ATOMIC_UNITS_PER_COIN) / 100n;

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
async function firstPayment({ mine, wallets: { alice, bob } }: Devnet): Promise<void> {
  print(`mining ${blocksUntilSpendable} blocks to alice`);
  await mine(blocksUntilSpendable);
  const { balance, unlocked } = await alice.balance();
  print(`alice has ${formatAmount(balance)}, ${formatAmount(unlocked)} of it unlocked`);
  const id = await alice.pay(bob.address, payment);
  print(`alice pays bob ${formatAmount(payment)} in transaction ${id}`);
  const height = await mine(blocksUntilUnlocked);
  const received = await bob.balance();
  print(
    `height ${height}: bob has ${formatAmount(received.balance)}, ${formatAmount(received.unlocked)} of it unlocked`,
  );
  if (received.unlocked !== payment) throw new PaymentMissing();
}

function printTour({ nodeUrl, wallets: { alice, bob } }: Devnet): void {
  const curl = (url: string, method: string, params: string) =>
    `  curl ${url}/json_rpc -d '{"jsonrpc":"2.0","id":"0","method":"${method}","params":${params}}'`;
  print(`\nnode   ${nodeUrl}\nalice  ${alice.url}\nbob    ${bob.url}\n\ntry\n`);
  print(curl(nodeUrl, "get_info", "{}"));
  print(
    curl(alice.url, "transfer", `{"destinations":[{"address":"${bob.address}","amount":1000000000000}]}`),
  );
  print(curl(nodeUrl, "generateblocks", `{"amount_of_blocks":10,"wallet_address":"${alice.address}"}`));
  print("\nCtrl-C ends it and forgets everything");
}

/** `anulo devnet`: a private chain on which alice pays bob. */
export async function runDevnet(args: readonly string[]): Promise<void> {
  const flags = parseFlags(devnetFlags, args);
  if (flags.help) {
    print(`anulo devnet [flags]\n\n${formatFlags(devnetFlags)}`);
    return;
  }
  const { seed, "node-port": node, "alice-port": alice, "bob-port": bob } = flags;
  const signalled = untilSignalled().then(() => "interrupted" as const);
  const devnet = await startDevnet({
    ...(seed !== undefined && { seed }),
    ...(flags["rpc-dialect"] && { dialect: flags["rpc-dialect"] }),
    ...(flags.console && { pages: readConsole() }),
    ports: { ...(node && { node }), ...(alice && { alice }), ...(bob && { bob }) },
  });
  try {
    const outcome = await Promise.race([firstPayment(devnet), signalled]);
    if (outcome === "interrupted") process.exitCode = interrupted;
    if (outcome === "interrupted" || flags.once) return;
    printTour(devnet);
    await Promise.race([signalled, devnet.node.stopRequested]);
  } finally {
    await devnet.stop();
  }
}
