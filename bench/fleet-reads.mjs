// What a read of a wallet costs a fleet of three processes, beside a fleet of one: `node bench/fleet-reads.mjs`, with
//   --wallets N     wallets, shared equally by the processes (150)
//   --seconds N     seconds that each figure is measured, after as many to warm up (3)
// Balances are asked over 16 connections: at each owner alone, of the wallets it has; at all processes at once, each for
// its own wallets; and of all wallets at all processes, which pass on what is not theirs. On a machine without a core
// for each process, theirs and the callers' share the cores in the last two.
import { parseArgs } from "node:util";
import { FleetWorld } from "@anulo/testkit";
import { jsonRequest, requestRate } from "./load.mjs";

const { values } = parseArgs({
  options: { wallets: { type: "string", default: "150" }, seconds: { type: "string", default: "3" } },
});
const [wallets, seconds] = [Number(values.wallets), Number(values.seconds)];
const CONNECTIONS = 16;
const PROCESSES = 3;
const balance = { jsonrpc: "2.0", id: "0", method: "get_balance", params: { account_index: 0 } };

const requestsFor = (names) => names.map((name) => jsonRequest(`/wallets/${name}/json_rpc`, balance));

/** Microseconds of processor time a read of all these processes, each asked for its wallets at the same time. */
async function measure(asked) {
  const connections = Math.ceil(CONNECTIONS / asked.length);
  const load = ({ member, names }) =>
    requestRate({
      pid: member.process.pid,
      port: Number(new URL(member.url).port),
      requests: requestsFor(names),
      connections,
      seconds,
    });
  await Promise.all(asked.map(load));
  return await Promise.all(asked.map(load));
}

function print(label, rates) {
  const reads = rates.reduce((sum, { rate }) => sum + rate, 0);
  const cpu = rates.reduce((sum, { rate, cpu }) => sum + rate * cpu, 0) / reads;
  console.log(
    `${label.padEnd(44)} ${cpu.toFixed(1).padStart(6)} µs a read ${Math.round(reads).toString().padStart(8)} reads/s`,
  );
}

for (const processes of [1, PROCESSES]) {
  const world = await FleetWorld.create({ processes, wallets });
  try {
    const owners = world.members.map((member) => ({ member, names: world.walletsOf(member) }));
    for (const [i, owner] of owners.entries())
      print(`${processes} processes, only the owner ${i + 1} asked`, await measure([owner]));
    if (processes === 1) continue;
    print(`${processes} processes, each for its own wallets`, await measure(owners));
    const all = world.members.map((member) => ({ member, names: world.names }));
    print(`${processes} processes, each for all wallets`, await measure(all));
  } finally {
    await world.stop();
  }
}
