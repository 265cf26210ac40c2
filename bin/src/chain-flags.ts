import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  BadCheckpoints,
  type Checkpoint,
  type NodeOptions,
  parseCheckpoints,
  parseSeedSchedule,
  type SeedSchedule,
} from "@anulo/node";
import type { NetworkName } from "@anulo/protocol";
import { type FlagTable, throwUsage, type Values } from "./flags.ts";
import { readKnownBlocks } from "./known-blocks-file.ts";

/** Flags that select the chain and its folder. */
export const chainFlags = {
  regtest: { kind: "switch", help: "a private chain" },
  testnet: { kind: "switch", help: "the network for tests of what is to come" },
  stagenet: { kind: "switch", help: "the network like mainnet, with coins worth nothing" },
  "data-dir": { kind: "text", value: "FOLDER", help: "where the chain is kept (~/.anulo)" },
} as const satisfies FlagTable;

/** Flags about the rules by which a chain's blocks are verified. */
export const rulesFlags = {
  "fixed-difficulty": { kind: "number", value: "N", help: "difficulty of every block, on test chains" },
  "fast-block-sync": {
    kind: "number",
    value: "0|1",
    help: "0: verify also the blocks of mainnet whose ids are built in, up to height 3706880 (1)",
  },
} as const satisfies FlagTable;

/** A chain on this machine. */
export interface ChainPlace {
  readonly network: NetworkName;
  /** The data folder. */
  readonly folder: string;
  readonly databasePath: string;
}

/** The chain that the flags select. */
export function chainPlaceOf(flags: Values<typeof chainFlags>): ChainPlace {
  const network = (["regtest", "stagenet", "testnet"] as const).find((name) => flags[name]) ?? "mainnet";
  const folder = flags["data-dir"] ?? join(homedir(), ".anulo");
  return { network, folder, databasePath: join(folder, network, "chain.mdb") };
}

/** Variables of the environment that the original reads for tests of proof of work. */
function seedScheduleOf({ SEEDHASH_EPOCH_BLOCKS, SEEDHASH_EPOCH_LAG }: NodeJS.ProcessEnv): SeedSchedule {
  return parseSeedSchedule(SEEDHASH_EPOCH_BLOCKS, SEEDHASH_EPOCH_LAG);
}

/**
 * The checkpoints of the file beside mainnet's data, if there is one; throws BadUsage.
 * Source: checkpoints.h `JSON_HASH_FILE_NAME`.
 */
function readCheckpoints({ folder, network }: ChainPlace): Checkpoint[] {
  const file = join(folder, "checkpoints.json");
  if (network !== "mainnet" || !existsSync(file)) return [];
  try {
    return parseCheckpoints(readFileSync(file, "utf8"));
  } catch (error) {
    return throwUsage(file, BadCheckpoints, error);
  }
}

type Rules = Pick<NodeOptions, "checkpoints" | "knownBlocks" | "fixedDifficulty" | "seedSchedule">;

/** The rules by which a chain's blocks are verified; throws BadUsage. */
export function rulesOf(flags: Values<typeof rulesFlags>, place: ChainPlace): Rules {
  return {
    checkpoints: readCheckpoints(place),
    knownBlocks:
      place.network === "mainnet" && flags["fast-block-sync"] !== 0 ? readKnownBlocks() : undefined,
    fixedDifficulty: BigInt(flags["fixed-difficulty"] ?? 0) || undefined,
    seedSchedule: seedScheduleOf(process.env),
  };
}
