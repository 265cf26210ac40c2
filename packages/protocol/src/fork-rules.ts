/**
 * What depends on the hard fork, in two tables with a line for each fork: everything that checks a rule of a fork, or
 * follows one, reads it here. Which fork a block belongs to is `hardForkAt`; the rules that hold in all forks, and each
 * of these with its test, are in docs/consensus.md.
 * Source: cryptonote_config.h `HF_VERSION_*`; blockchain.cpp; cryptonote_basic_impl.cpp `get_min_block_weight`.
 */

/** How a block is hashed: a variant of CryptoNight (4 is CryptoNight-R, which needs the height), or RandomX of any version. */
export type PowVariant = 0 | 1 | 2 | 4 | "randomx";

/** Types that the outputs of a transaction may have: keys without view tag, with one, or either but all alike. */
export type OutputTypes = "plain" | "either" | "tagged";

/** How the smallest fee is computed. */
export type FeeRule = "fixed, per kB" | "dynamic, per kB" | "dynamic, per byte" | "2021, per byte";

/**
 * Amounts of outputs: visible ones of version 1 may be any, or are one digit and zeros (`digits`); with `hidden`, those
 * of version 2 are 0 besides.
 */
export type AmountRule = "any" | "digits" | "hidden";

/** The median against which a block's weight is penalised: that of 100 blocks, or the effective one. */
export type PenaltyRule = "short" | "effective";

/** The time by which outputs open that are locked until a time: the node's own clock, or the chain's time. */
export type UnlockRule = "clock" | "chain";

/** Which medians bound the weight of a block: the short-term one, both, or both with the long-term one as a floor. */
export type WeightRule = "short" | "long" | "2021";

/** What a miner may claim of reward and fees: all of it, or at least the fees; of `digits`, in outputs of one digit each. */
export type ClaimRule = "all" | "less" | "less, digits";

const ANY = Number.POSITIVE_INFINITY;

/**
 * Transactions. Columns: their versions, least and most; the size of a ring, least and most, and a smaller one that is
 * allowed too; RingCT types; types of outputs; fewest outputs of version 2; amounts; whether a ring names no output
 * twice in a row, inputs descend by key image, rings are of one size; how many blocks old ring members are; the fee.
 *
 * Smaller rings and version 1 remain allowed for visible amounts of which too few outputs exist. Fork 1 does not check
 * the size of rings. RingCT types 1 and 2 are listed from the beginning, as in the original: version 2 brings them.
 */
// biome-ignore format: a table
const transactionTable = [
  // fork version ring      also  RingCT     outputs fewest amounts   once   sorted alike  age  fee
  [   1, [1, 1], [0,  ANY],  0, [1, 2],    "plain",  0, "any",    false, false, false,  0, "fixed, per kB"    ],
  [   2, [1, 1], [3,  ANY],  0, [1, 2],    "plain",  0, "digits", false, false, false,  0, "fixed, per kB"    ],
  [   3, [1, 1], [3,  ANY],  0, [1, 2],    "plain",  0, "hidden", false, false, false,  0, "fixed, per kB"    ],
  [   4, [1, 2], [3,  ANY],  0, [1, 2],    "plain",  0, "hidden", false, false, false,  0, "dynamic, per kB"  ],
  [   5, [1, 2], [3,  ANY],  0, [1, 2],    "plain",  0, "hidden", false, false, false,  0, "dynamic, per kB"  ],
  [   6, [2, 2], [5,  ANY],  0, [1, 2],    "plain",  0, "hidden", true,  false, false,  0, "dynamic, per kB"  ],
  [   7, [2, 2], [7,  ANY],  0, [1, 2],    "plain",  0, "hidden", true,  true,  false,  0, "dynamic, per kB"  ],
  [   8, [2, 2], [11, 11 ],  0, [1, 2, 3], "plain",  0, "hidden", true,  true,  false,  0, "dynamic, per byte"],
  [   9, [2, 2], [11, 11 ],  0, [3],       "plain",  0, "hidden", true,  true,  false,  0, "dynamic, per byte"],
  [  10, [2, 2], [11, 11 ],  0, [3, 4],    "plain",  0, "hidden", true,  true,  false,  0, "dynamic, per byte"],
  [  11, [2, 2], [11, 11 ],  0, [4],       "plain",  0, "hidden", true,  true,  false,  0, "dynamic, per byte"],
  [  12, [2, 2], [11, 11 ],  0, [4],       "plain",  2, "hidden", true,  true,  true,  10, "dynamic, per byte"],
  [  13, [2, 2], [11, 11 ],  0, [4, 5],    "plain",  2, "hidden", true,  true,  true,  10, "dynamic, per byte"],
  [  14, [2, 2], [11, 11 ],  0, [5],       "plain",  2, "hidden", true,  true,  true,  10, "dynamic, per byte"],
  [  15, [2, 2], [16, 16 ], 11, [5, 6],    "either", 2, "hidden", true,  true,  true,  10, "2021, per byte"   ],
  [  16, [2, 2], [16, 16 ],  0, [6],       "tagged", 2, "hidden", true,  true,  true,  10, "2021, per byte"   ],
] as const;

/**
 * Blocks. Columns: seconds between them; how they are hashed; bytes that a block may weigh without penalty; medians of
 * the limit of its weight; the median of the penalty; bytes of the heaviest transaction (the megabyte before 8 is the
 * limit of every transaction); the time by which locked outputs open; the lowest version of the miner's transaction,
 * which has no signatures from 2 on; what it may claim.
 */
// biome-ignore format: a table
const blockTable = [
  // fork seconds hash   free  medians  penalty   heaviest   opens miner claim
  [   1,  60, 0,          20_000, "short", "short",     1_000_000, "clock", 1, "all"         ],
  [   2, 120, 0,          60_000, "short", "short",     1_000_000, "clock", 1, "less"        ],
  [   3, 120, 0,          60_000, "short", "short",     1_000_000, "clock", 1, "less, digits"],
  [   4, 120, 0,          60_000, "short", "short",     1_000_000, "clock", 1, "less"        ],
  [   5, 120, 0,         300_000, "short", "short",     1_000_000, "clock", 1, "less"        ],
  [   6, 120, 0,         300_000, "short", "short",     1_000_000, "clock", 1, "less"        ],
  [   7, 120, 1,         300_000, "short", "short",     1_000_000, "clock", 1, "less"        ],
  [   8, 120, 2,         300_000, "short", "short",       149_400, "clock", 1, "less"        ],
  [   9, 120, 2,         300_000, "short", "short",       149_400, "clock", 1, "less"        ],
  [  10, 120, 4,         300_000, "long",  "short",       149_400, "clock", 1, "less"        ],
  [  11, 120, 4,         300_000, "long",  "short",       149_400, "clock", 1, "less"        ],
  [  12, 120, "randomx", 300_000, "long",  "effective",   149_400, "clock", 2, "less"        ],
  [  13, 120, "randomx", 300_000, "long",  "effective",   149_400, "chain", 2, "all"         ],
  [  14, 120, "randomx", 300_000, "long",  "effective",   149_400, "chain", 2, "all"         ],
  [  15, 120, "randomx", 300_000, "2021",  "effective",   149_400, "chain", 2, "all"         ],
  [  16, 120, "randomx", 300_000, "2021",  "effective",   149_400, "chain", 2, "all"         ],
] as const;

/** The rules of a hard fork that differ between forks. */
export interface ForkRules {
  readonly fork: number;
  /** Versions that a transaction may have. */
  readonly transactionVersions: { readonly least: number; readonly most: number };
  /** Number of members of a ring; `also` is another one that is allowed, 0 for none. */
  readonly ringSize: { readonly least: number; readonly most: number; readonly also: number };
  readonly ringCtTypes: readonly number[];
  readonly outputTypes: OutputTypes;
  /** Fewest outputs of a transaction of version 2. */
  readonly fewestOutputs: number;
  readonly amounts: AmountRule;
  /** Whether no ring names an output twice in a row. */
  readonly hasDistinctMembers: boolean;
  /** Whether the key images of a transaction descend. */
  readonly hasSortedInputs: boolean;
  /** Whether the rings of a transaction have one size. */
  readonly hasEqualRings: boolean;
  /** Blocks that the last member of a ring must be old. */
  readonly ringMemberAge: number;
  readonly fee: FeeRule;
  /** Target of the time between blocks. */
  readonly secondsPerBlock: number;
  readonly powVariant: PowVariant;
  /** Weight (bytes) up to which a block is not penalised. */
  readonly freeWeight: number;
  readonly weight: WeightRule;
  readonly penalty: PenaltyRule;
  /** Weight (bytes) of the heaviest transaction in a block. */
  readonly heaviestTransaction: number;
  readonly unlockTime: UnlockRule;
  /** Lowest version of the miner's transaction. */
  readonly minerVersion: number;
  readonly claim: ClaimRule;
}

function rulesOfLine(index: number): ForkRules {
  const [fork, versions, ring, also, ...transaction] = transactionTable[index]!;
  const [ringCtTypes, outputTypes, fewestOutputs, amounts, ...inputs] = transaction;
  const [hasDistinctMembers, hasSortedInputs, hasEqualRings, ringMemberAge, fee] = inputs;
  const [line, secondsPerBlock, powVariant, freeWeight, weight, penalty, ...block] = blockTable[index]!;
  if (line !== fork) throw new Error(`the line of fork ${fork} is that of fork ${line} for blocks`);
  const [heaviestTransaction, unlockTime, minerVersion, claim] = block;
  return {
    fork,
    transactionVersions: { least: versions[0], most: versions[1] },
    ringSize: { least: ring[0], most: ring[1], also },
    ringCtTypes,
    outputTypes,
    fewestOutputs,
    amounts,
    hasDistinctMembers,
    hasSortedInputs,
    hasEqualRings,
    ringMemberAge,
    fee,
    secondsPerBlock,
    powVariant,
    freeWeight,
    weight,
    penalty,
    heaviestTransaction,
    unlockTime,
    minerVersion,
    claim,
  };
}

/** The rules of all hard forks, from 1 on. */
export const allForkRules: readonly ForkRules[] = transactionTable.map((_, index) => rulesOfLine(index));

/** The rules of a hard fork; those of the newest for a later one. */
export function forkRules(fork: number): ForkRules {
  return allForkRules[Math.min(Math.max(fork, 1), allForkRules.length) - 1]!;
}

/** The first hard fork whose rules are so; Infinity if none are. */
export function firstFork(isSo: (rules: ForkRules) => boolean): number {
  return allForkRules.find(isSo)?.fork ?? Number.POSITIVE_INFINITY;
}
