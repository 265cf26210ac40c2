import {
  absoluteOffsets,
  forkRules,
  type KeyInput,
  MAX_BLOCK_NUMBER,
  type Transaction,
} from "@anulo/protocol";
import type { ChainOutput, ChainView } from "../chain-view.ts";
import { UNLOCK_LEEWAY_BLOCKS } from "../constants.ts";
import { adjustedTime } from "../timestamps.ts";
import { RuleViolation } from "../violations.ts";
import type { ChainContext, UnlockContext } from "./candidate.ts";

/**
 * Ring sizes must be those of the fork (`forkRules`), and from 12 all the same; smaller only
 * for visible amounts with too few outputs for a ring, together with at most one other input. Source: blockchain.cpp
 * `check_tx_inputs`.
 */
export function checkRingSizes(inputs: readonly KeyInput[], chain: ChainView): void {
  const { ringSize, hasEqualRings } = forkRules(chain.hardForkVersion);
  const sizes = inputs.map(countedSize);
  // The sizes are not spread into a call: a stranger's transaction may have more inputs than a call takes arguments.
  const smallest = sizes.reduce((least, size) => Math.min(least, size), Number.POSITIVE_INFINITY);
  const largest = sizes.reduce((most, size) => Math.max(most, size), Number.NEGATIVE_INFINITY);
  if (hasEqualRings && smallest !== largest) {
    throw new RuleViolation({ code: "RING_SIZES_DIFFER", smallest, largest });
  }
  const required = ringSize.least;
  const isWrong =
    smallest < required && smallest !== ringSize.also
      ? !isUnmixable(inputs, required, chain)
      : smallest > ringSize.most;
  if (isWrong) throw new RuleViolation({ code: "RING_SIZE", size: smallest, required });
}

/** The original counts the other members, of which an empty ring has 2^64 - 1. */
function countedSize({ keyOffsets }: KeyInput): number {
  return keyOffsets.length === 0 ? Number.POSITIVE_INFINITY : keyOffsets.length;
}

/** True when some input cannot find enough outputs for a ring, and at most one input can. */
function isUnmixable(inputs: readonly KeyInput[], required: number, chain: ChainView): boolean {
  const unmixable = countUnmixable(inputs, required, chain);
  return unmixable > 0 && inputs.length - unmixable <= 1;
}

/** Inputs with a visible amount of which the chain has fewer outputs than a ring needs. */
function countUnmixable(inputs: readonly KeyInput[], required: number, chain: ChainView): number {
  const isAlone = ({ amount }: KeyInput) => amount !== 0n && chain.outputCount(amount) < BigInt(required);
  return inputs.filter(isAlone).length;
}

/**
 * Version 2 is allowed from hard fork 4 and required from 6, except for unmixable inputs. Source: blockchain.cpp
 * `check_tx_inputs`.
 */
export function checkVersion({ prefix }: Transaction, inputs: readonly KeyInput[], chain: ChainView): void {
  const { transactionVersions, ringSize, fork } = forkRules(chain.hardForkVersion);
  if (fork < 2) return;
  const highest = transactionVersions.most;
  if (prefix.version > highest) {
    throw new RuleViolation({ code: "TRANSACTION_VERSION_TOO_NEW", version: prefix.version, highest });
  }
  const isFree =
    prefix.version >= transactionVersions.least || countUnmixable(inputs, ringSize.least, chain) > 0;
  if (!isFree) {
    throw new RuleViolation({ code: "RINGCT_REQUIRED", version: prefix.version });
  }
}

/** Resolves the ring of one input: outputs of the chain, all of them unlocked; its key image must be unspent. */
export function resolveRing(input: KeyInput, index: number, context: ChainContext): ChainOutput[] {
  const { chain } = context;
  if (input.keyOffsets.length === 0) throw new RuleViolation({ code: "RING_EMPTY", input: index });
  if (chain.isKeyImageSpent(input.keyImage))
    throw new RuleViolation({ code: "KEY_IMAGE_SPENT", input: index });
  const globalIndices = absoluteOffsets(input.keyOffsets);
  const ring = chain.outputs(input.amount, globalIndices).map((output, member) => {
    if (output !== undefined) return output;
    const globalIndex = globalIndices[member]!;
    throw new RuleViolation({ code: "RING_MEMBER_UNKNOWN", input: index, globalIndex });
  });
  for (const { unlockTime } of ring) {
    if (isUnlocked(unlockTime, context)) continue;
    throw new RuleViolation({ code: "RING_MEMBER_LOCKED", input: index, unlockTime });
  }
  return ring;
}

/**
 * True when an output with this `unlock_time` may be spent in the next block: a height with one block of
 * leeway, else a time with one target of leeway, the chain's own time from hard fork 13.
 * Source: blockchain.cpp `is_tx_spendtime_unlocked`.
 */
export function isUnlocked(unlockTime: bigint, rules: ChainContext): boolean {
  return unlockRule(rules)(unlockTime);
}

/** The same for many unlock times, exact numbers or whole ones below 2^64 as near as a number comes. */
export function unlockRule({ chain, now }: UnlockContext): (unlockTime: bigint | number) => boolean {
  const height = chain.height - 1 + UNLOCK_LEEWAY_BLOCKS;
  // Few outputs have a time, and the chain's own is work to find.
  let latest: number | undefined;
  const findLatest = () => {
    const { unlockTime, secondsPerBlock } = forkRules(chain.hardForkVersion);
    const time = unlockTime === "chain" ? adjustedTime(chain, now) : now;
    return Math.floor(time) + secondsPerBlock * UNLOCK_LEEWAY_BLOCKS;
  };
  return (unlockTime) => {
    if (unlockTime < MAX_BLOCK_NUMBER) return unlockTime <= height;
    latest ??= findLatest();
    return unlockTime <= latest;
  };
}

/** Height of the newest of these outputs; 0 if there are none. */
export function newestHeight(outputs: readonly ChainOutput[]): number {
  return outputs.reduce((newest, { height }) => Math.max(newest, height), 0);
}

/**
 * From hard fork 12 ring members must be at least 10 blocks old. Only the last of each ring counts, as in the original
 * (`newest` is the height of the newest of them): it is its newest, unless offsets wrap around 2^64. Source:
 * blockchain.cpp `scan_outputkeys_for_indexes`, `check_tx_inputs`.
 */
export function checkSpendableAge(newest: number, chain: ChainView): void {
  const { ringMemberAge } = forkRules(chain.hardForkVersion);
  const oldestNeeded = chain.height - ringMemberAge;
  if (newest > oldestNeeded) {
    throw new RuleViolation({ code: "RING_MEMBER_TOO_YOUNG", height: newest, oldestNeeded });
  }
}
