import { type BackgroundSettings, backgroundDefaults, type NodeOptions } from "@anulo/node";
import { BadAddress, type NetworkName, parseAddress } from "@anulo/protocol";
import { BadUsage, type FlagTable, type Values } from "./flags.ts";
import { powerSource } from "./power-source.ts";

export const miningFlags = {
  "portable-randomx": {
    kind: "switch",
    help: "do not use the system's RandomX library, even where there is one",
  },
  "extra-messages-file": { kind: "text", value: "FILE", help: "refused: mined blocks carry no messages" },
  "start-mining": { kind: "text", value: "ADDRESS", help: "mine for this address from the start" },
  "mining-threads": {
    kind: "number",
    value: "N",
    help: "threads that mine (1); 0 finds out how many are worth it",
  },
  "bg-mining-enable": { kind: "switch", help: "mine only while the machine is idle" },
  "bg-mining-ignore-battery": { kind: "switch", help: "mine also where the power supply is not known" },
  "bg-mining-min-idle-interval": {
    kind: "number",
    value: "SECONDS",
    help: "idle time before mining begins (10)",
  },
  "bg-mining-idle-threshold": {
    kind: "number",
    value: "PERCENT",
    help: "how idle the processors must be (90)",
  },
  "bg-mining-miner-target": { kind: "number", value: "PERCENT", help: "what mining may take of them (40)" },
} as const satisfies FlagTable;

type MiningFlags = Pick<Values<typeof miningFlags>, keyof typeof miningFlags>;

/**
 * How RandomX may be computed; the original's MONERO_RANDOMX_UMASK lists flags of its library that must not be used.
 */
export function hashingOptions(
  flags: MiningFlags,
  { MONERO_RANDOMX_UMASK }: NodeJS.ProcessEnv,
): Pick<NodeOptions, "hashing"> {
  const mask = Number(MONERO_RANDOMX_UMASK ?? 0);
  const disabledFlags = Number.isInteger(mask) && mask >= 0 && mask < 2 ** 31 ? mask : 0;
  return { hashing: { isPortable: flags["portable-randomx"], disabledFlags } };
}

/** Returns the mining options of the flags; throws BadUsage. */
export function miningOptions(
  flags: MiningFlags,
  network: NetworkName,
): Pick<NodeOptions, "mining" | "backgroundMining" | "powerSource"> {
  if (flags["extra-messages-file"] !== undefined) {
    throw new BadUsage("--extra-messages-file: mined blocks carry no messages; leave it out");
  }
  const backgroundMining = backgroundOf(flags);
  const address = flags["start-mining"];
  if (address === undefined) return { backgroundMining, powerSource };
  const mining = {
    address,
    keys: keysOf(address, network),
    threads: flags["mining-threads"] ?? 1,
    isInBackground: flags["bg-mining-enable"],
    ignoreBattery: flags["bg-mining-ignore-battery"],
  };
  return { mining, backgroundMining, powerSource };
}

function keysOf(address: string, network: NetworkName) {
  try {
    const { kind, spendPublic, viewPublic } = parseAddress(address, network);
    if (kind === "standard") return { spendPublic, viewPublic };
  } catch (error) {
    if (!(error instanceof BadAddress)) throw error;
  }
  throw new BadUsage(`--start-mining needs a standard address of ${network}: ${address}`);
}

/** Limits as in the original's miner.h, which ignores numbers beyond them. */
function backgroundOf(flags: MiningFlags): BackgroundSettings {
  const within = (name: keyof MiningFlags & `bg-${string}`, { from, to }: { from: number; to: number }) => {
    const value = flags[name];
    if (typeof value !== "number" || (value >= from && value <= to)) return value;
    throw new BadUsage(`--${name} must be ${from} to ${to}: ${value}`);
  };
  const seconds = within("bg-mining-min-idle-interval", { from: 10, to: 3600 });
  const idle = within("bg-mining-idle-threshold", { from: 0, to: 99 });
  const target = within("bg-mining-miner-target", { from: 1, to: 100 });
  return {
    minIdleSeconds: typeof seconds === "number" ? seconds : backgroundDefaults.minIdleSeconds,
    idleThreshold: typeof idle === "number" ? idle : backgroundDefaults.idleThreshold,
    target: typeof target === "number" ? target : backgroundDefaults.target,
  };
}
