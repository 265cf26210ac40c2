import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ATOMIC_UNITS_PER_COIN } from "@anulo/protocol";
import { createFaults, type FaultBook } from "./faults.ts";
import { type DevnetKeys, devnetKeys } from "./keys.ts";
import { netOf } from "./net.ts";
import type { Devnet, DevnetOptions, DevnetWallet, UsualNames } from "./options.ts";
import { startOriginal } from "./original.ts";
import { startOurs } from "./ours.ts";
import { type Programs, stopEach } from "./programs.ts";
import { startProxy } from "./proxy.ts";
import { allOrNone } from "./turns.ts";
import { devnetWallet } from "./wallet.ts";

const USUAL_OUTPUTS: readonly bigint[] = Array.from({ length: 10 }, () => ATOMIC_UNITS_PER_COIN);
/** A name that no wallet can have: its keys are nobody's wallet. */
const NOBODY = "nobody's miner";
const WALLET_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Starts a node and its wallets. Two devnets know nothing of each other. Throws a RangeError for impossible options. */
export async function startDevnet<const N extends string = UsualNames>(
  options: DevnetOptions<N> = {},
): Promise<Devnet<N>> {
  const plan = planOf(options);
  const folder = mkdtempSync(join(tmpdir(), "anulo-devnet-"));
  const stops = [async () => rmSync(folder, { recursive: true, force: true })];
  const stop = () => stopEach(stops.splice(0).reverse());
  try {
    const faults = createFaults();
    const programs = await startPrograms(options, folder);
    stops.push(() => programs.stop());
    const toNode = await startProxy({ target: programs.nodeUrl, port: 0, faults, at: "node" });
    stops.push(() => toNode.stop());
    const place = { programs, faults, nodeUrl: toNode.url, options, stops };
    const all = await allOrNone([...plan.keys()].map((name) => openWallet(place, name)));
    const wallets = Object.fromEntries(all.map((wallet) => [wallet.name, wallet])) as Devnet<N>["wallets"];
    const net = netOf({ programs, wallets, faults, stop, ...minersOf(options, plan) });
    if (isFunded(plan)) {
      await net.fund(Object.fromEntries(plan));
      await Promise.all(all.map((wallet) => wallet.balance()));
    }
    if (options.mining !== undefined) net.autoMine(options.mining);
    return net;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startPrograms(options: DevnetOptions<string>, folder: string): Promise<Programs> {
  const { programs = "ours" } = options;
  if (programs === "ours") return await startOurs(options, folder);
  return await startOriginal(options, {
    folder,
    programs: programs === "original" ? undefined : programs.folder,
  });
}

/** The outputs of each wallet by its name. */
type Plan = ReadonlyMap<string, readonly bigint[]>;

function planOf(options: DevnetOptions<string>): Plan {
  const { wallets = ["alice", "bob"], outputs, funded = false } = options;
  const usual = outputs ?? (funded ? USUAL_OUTPUTS : []);
  const plan = Array.isArray(wallets)
    ? new Map(wallets.map((name: string) => [name, usual] as const))
    : new Map(Object.entries(wallets as Record<string, readonly bigint[]>));
  for (const name of plan.keys()) {
    if (!WALLET_NAME.test(name) || name === "node")
      throw new RangeError(`"${name}" can't be a wallet's name`);
  }
  if (Array.isArray(wallets) && plan.size < wallets.length)
    throw new RangeError("two wallets have the same name");
  return plan;
}

const isFunded = (plan: Plan): boolean => [...plan.values()].some((amounts) => amounts.length > 0);

function minersOf({ seed = 1, miner }: DevnetOptions<string>, plan: Plan) {
  const addressOf = (name: string) => devnetKeys(seed, name).address;
  const nobody = addressOf(NOBODY);
  const [first] = plan.keys();
  if (miner !== undefined) return { nobody, miner: plan.has(miner) ? addressOf(miner) : miner };
  return { nobody, miner: first === undefined || isFunded(plan) ? nobody : addressOf(first) };
}

type Place = {
  readonly programs: Programs;
  readonly faults: FaultBook;
  /** Where wallets find the node. */
  readonly nodeUrl: string;
  readonly options: DevnetOptions<string>;
  readonly stops: (() => Promise<void>)[];
};

async function openWallet(
  { programs, faults, nodeUrl, options, stops }: Place,
  name: string,
): Promise<DevnetWallet> {
  const keys: DevnetKeys = devnetKeys(options.seed ?? 1, name);
  const target = await programs.openWallet(name, keys, nodeUrl);
  const port = options.ports?.[name] ?? 0;
  const proxy = await startProxy({ target, port, faults, at: "wallet", wallet: name });
  stops.push(() => proxy.stop());
  return devnetWallet(name, proxy.url, keys);
}
