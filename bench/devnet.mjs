// What a devnet costs: ten funded wallets from a program's start, a snapshot and its revert at 1,000 blocks, and fifty
// devnets at once in one program. Milliseconds on the wall, and of the processor; memory in MiB.
//   node bench/devnet.mjs [--rounds 5] [--wallets 10] [--blocks 1000] [--devnets 50]
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { startDevnet } from "@anulo/devnet";
import { memoryMiB } from "./process.mjs";
import { median } from "./timing.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    wallets: { type: "string", default: "10" },
    blocks: { type: "string", default: "1000" },
    devnets: { type: "string", default: "50" },
    part: { type: "string" },
  },
});
const [rounds, walletCount, blocks, devnetCount] = ["rounds", "wallets", "blocks", "devnets"].map((name) =>
  Number(values[name]),
);
const names = Array.from({ length: walletCount }, (_, i) => `wallet${i}`);

/** Milliseconds that a task takes on the wall, and of this program's processor time. */
async function costOf(task) {
  const before = process.cpuUsage();
  const from = performance.now();
  await task();
  const wall = performance.now() - from;
  const { user, system } = process.cpuUsage(before);
  return { wall, cpu: (user + system) / 1000 };
}

async function measureStart() {
  let net;
  const loadedAfter = performance.now();
  const cost = await costOf(async () => {
    net = await startDevnet({ wallets: names, funded: true });
  });
  const [first, ...others] = Object.values(net.wallets);
  await first.pay(others.at(-1)?.address ?? first.address, 5n);
  await net.stop();
  return { ...cost, loadedAfter };
}

/** Between a snapshot and its revert, all wallets scan new blocks and one pays another. */
async function measureRevert() {
  const net = await startDevnet({ wallets: names, funded: true });
  const wallets = Object.values(net.wallets);
  const refreshAll = () => Promise.all(wallets.map((wallet) => wallet.balance()));
  await net.mine(blocks - (await net.mine(0)));
  const costs = [];
  for (let round = 0; round < rounds; round++) {
    await refreshAll();
    let id;
    const saved = await costOf(async () => {
      id = await net.snapshot();
    });
    await wallets[0].pay(wallets.at(-1).address, 5n);
    await net.mine(2);
    await refreshAll();
    const restored = await costOf(() => net.revert(id));
    await net.dropSnapshot(id);
    costs.push({ wall: saved.wall + restored.wall, cpu: saved.cpu + restored.cpu });
  }
  await net.stop();
  return costs;
}

/** Each devnet mines, pays, and sees the payment arrive, all at the same time. */
async function measureMany() {
  const cost = await costOf(async () => {
    const nets = await Promise.all(Array.from({ length: devnetCount }, (_, seed) => startDevnet({ seed })));
    await Promise.all(
      nets.map(async ({ mine, wallets: { alice, bob } }) => {
        await mine(80);
        await alice.pay(bob.address, 5n);
        await mine(10);
        if ((await bob.balance()).unlocked !== 5n) throw new Error("a payment has not arrived");
      }),
    );
    await Promise.all(nets.map((net) => net.stop()));
  });
  return { ...cost, mostMiB: memoryMiB(process.pid, "VmHWM") };
}

const parts = { start: measureStart, revert: measureRevert, many: measureMany };

/** Each part runs in a program of its own, so that nothing is compiled or loaded before. */
function runPart(part) {
  const args = Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
  const output = execFileSync(process.execPath, [import.meta.filename, ...args, "--part", part]);
  return JSON.parse(output.toString());
}

const ms = (costs, kind) => Math.round(median(costs.map((cost) => cost[kind])));

function print(name, costs, more = "") {
  const each = costs.map(({ wall }) => Math.round(wall)).join(" ");
  console.log(`${name}: ${ms(costs, "wall")} ms, processor ${ms(costs, "cpu")} ms (${each})${more}`);
}

if (values.part !== undefined) console.log(JSON.stringify(await parts[values.part]()));
else {
  const starts = Array.from({ length: rounds }, () => runPart("start"));
  print(`${walletCount} funded wallets`, starts, `; modules loaded in ${ms(starts, "loadedAfter")} ms`);
  print(`snapshot and revert at ${blocks} blocks, ${walletCount} wallets`, runPart("revert"));
  const many = runPart("many");
  print(`${devnetCount} devnets at once`, [many], `; ${Math.round(many.mostMiB)} MiB at most`);
}
