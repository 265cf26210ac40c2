/**
 * Number of RingCT outputs in each block: megabytes for a whole chain, so the response is cached and only the newest
 * blocks are requested again. Source: wallet2.cpp `get_rct_distribution`, which requests all of them every time.
 */
import { WalletRefusal } from "../refusal.ts";
import type { CumulativeOutputs } from "./decoys.ts";

/** Number of outputs up to and including each block, from the block at `startHeight` on. */
export type OutputCounts = { readonly startHeight: number; readonly cumulative: CumulativeOutputs };

/** A node's response: outputs of each block from `startHeight` on; `base` is the number of outputs before. */
export type CountsAnswer = {
  readonly startHeight: number;
  readonly base: number;
  readonly counts: readonly number[];
};

/** Number of blocks that are requested again: the wallet follows no deeper reorganisation. */
const OVERLAP = 100;
/** More outputs than fit into any block. */
const MAX_OUTPUTS_OF_BLOCK = 1 << 20;
/** More blocks than the chain will have in a century. */
const MAX_BLOCKS = 1 << 25;

function refuse(what: string): never {
  throw new WalletRefusal("GENERIC_TRANSFER_ERROR", `Could not obtain output distribution: the node ${what}`);
}

/** Throws `WalletRefusal` for counts that no chain can have. */
function checkCounts({ startHeight, base, counts }: CountsAnswer, fromHeight: number, walletHeight: number) {
  if (startHeight < fromHeight) refuse("told of blocks it was not asked for");
  if (startHeight + counts.length > MAX_BLOCKS) refuse("told of more blocks than there can be");
  if (startHeight + counts.length + OVERLAP < walletHeight) refuse("has fewer blocks than were scanned");
  if (base > MAX_OUTPUTS_OF_BLOCK * startHeight || counts.some((count) => count > MAX_OUTPUTS_OF_BLOCK))
    refuse("told of more outputs than blocks hold");
}

function accumulate(before: CumulativeOutputs, { base, counts }: CountsAnswer): number[] {
  const all = [...before];
  let total = base;
  for (const count of counts) {
    total += count;
    all.push(total);
  }
  return all;
}

/** Requests the counts from a height on. */
export type AskCounts = (fromHeight: number) => Promise<CountsAnswer>;

/** The counts of one node's chain, cached between requests. */
export class KeptOutputCounts {
  #counts: OutputCounts = { startHeight: 0, cumulative: [] };

  /** Returns the current counts. Throws `WalletRefusal` if the node's response is impossible. */
  async update(ask: AskCounts, walletHeight: number): Promise<OutputCounts> {
    this.#counts = (await this.#extend(ask, walletHeight)) ?? (await askForAll(ask, walletHeight));
    return this.#counts;
  }

  /** Returns undefined if the cached counts no longer belong to the node's chain. */
  async #extend(ask: AskCounts, walletHeight: number): Promise<OutputCounts | undefined> {
    const { startHeight, cumulative } = this.#counts;
    if (cumulative.length <= OVERLAP) return undefined;
    const stableCounts = cumulative.slice(0, -OVERLAP);
    const fromHeight = startHeight + stableCounts.length;
    const counts = await ask(fromHeight).catch((error: unknown) => {
      // A chain that has become shorter has no counts from that height on.
      if (error instanceof WalletRefusal) return undefined;
      throw error;
    });
    if (counts === undefined || counts.startHeight !== fromHeight || counts.base !== stableCounts.at(-1))
      return undefined;
    checkCounts(counts, fromHeight, walletHeight);
    return { startHeight, cumulative: accumulate(stableCounts, counts) };
  }
}

async function askForAll(ask: AskCounts, walletHeight: number): Promise<OutputCounts> {
  const counts = await ask(0);
  checkCounts(counts, 0, walletHeight);
  return { startHeight: counts.startHeight, cumulative: accumulate([], counts) };
}

/** Whether an output with this global index can be in the block at `height`, according to the counts. */
export function agreesWith(
  { startHeight, cumulative }: OutputCounts,
  { height, globalIndex }: { readonly height: number; readonly globalIndex: bigint },
): boolean {
  const at = height - startHeight;
  const before = at === 0 ? 0 : cumulative[at - 1];
  const after = cumulative[at];
  return before !== undefined && after !== undefined && globalIndex >= before && globalIndex < after;
}
