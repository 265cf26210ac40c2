/** The requests of transfers to the node. */
import { FEE_QUANTIZATION_MASK, toHex } from "@anulo/protocol";
import { checked, type Daemon, reached, toldByNode } from "../daemon.ts";
import { WalletRefusal } from "../refusal.ts";
import { RECENT_OUTPUT_SECONDS } from "./decoys.ts";
import { FEE_TOLERANCE, feeLimits, type SeenChain } from "./fee-limits.ts";
import type { CountsAnswer, KeptOutputCounts, OutputCounts } from "./output-counts.ts";
import type { OutputSource } from "./rings.ts";
import { type FeeRate, RING_SIZE } from "./stages.ts";

/** A fee is valid for this many further blocks. Source: wallet2.cpp FEE_ESTIMATE_GRACE_BLOCKS. */
const GRACE_BLOCKS = 10;
/** Priorities 1 to 4: unimportant, normal, elevated, priority. */
const HIGHEST_PRIORITY = 4;

/**
 * Requests the fee of a priority: 0 counts as 1, more than 4 as 4. Throws `WalletRefusal`, also if a node demands an
 * absurd fee. Source: wallet2.cpp `get_base_fee`.
 */
export async function feeRateOf(daemon: Daemon, priority: number, chain: SeenChain): Promise<FeeRate> {
  const response = checked(daemon.client.getFeeEstimate({ grace_blocks: GRACE_BLOCKS }));
  const answer = await response.catch(refuseTransfer);
  const level = Math.min(Math.max(priority, 1), HIGHEST_PRIORITY) - 1;
  const feePerByte = answer.fees[level];
  if (feePerByte === undefined || feePerByte === 0n)
    throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "the node did not tell its fees");
  const quantizationMask = BigInt(Math.max(1, answer.quantization_mask));
  if (feePerByte > feeLimits(chain)[level]! || quantizationMask > FEE_TOLERANCE * FEE_QUANTIZATION_MASK)
    throw new WalletRefusal(
      "GENERIC_TRANSFER_ERROR",
      `the node asks for absurd fees: ${feePerByte} atomic units per byte, in steps of ${quantizationMask}`,
    );
  return { feePerByte, quantizationMask };
}

/** If the node cannot be reached, the error is that of the original, whose first request is the height. */
function refuseTransfer(error: unknown): never {
  if (error instanceof WalletRefusal && error.kind === "NO_DAEMON_CONNECTION")
    throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "Failed to get height");
  throw error;
}

async function askCounts(daemon: Daemon, fromHeight: number): Promise<CountsAnswer> {
  const question = { amounts: [0n], from_height: fromHeight, binary: true, compress: true };
  const { distributions } = await checked(daemon.client.getOutputDistributionBin(question));
  const [only] = distributions;
  if (distributions.length !== 1 || only?.amount !== 0n)
    throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "Could not obtain output distribution.");
  return { startHeight: only.start_height, base: only.base, counts: only.distribution };
}

/** A node, the cached output counts of its chain, and a clock (seconds since 1970). */
export type CountingNode = {
  readonly daemon: Daemon;
  readonly outputCounts: KeptOutputCounts;
  readonly clock: () => number;
};

/**
 * The node's outputs and output counts, for one transfer: counts are requested once. `walletHeight`: number of blocks
 * the wallet has scanned. Source: wallet2.cpp `get_rct_distribution`, `get_outs`.
 */
export function outputSourceOf(
  { daemon, outputCounts, clock }: CountingNode,
  walletHeight: number,
): OutputSource {
  let hidden: Promise<OutputCounts> | undefined;
  return {
    isTrusted: daemon.isTrusted,
    hiddenCounts: () => {
      hidden ??= outputCounts.update((fromHeight) => askCounts(daemon, fromHeight), walletHeight);
      return hidden;
    },
    visibleCounts: async (amounts) => {
      const recent_cutoff = Math.floor(clock() - RECENT_OUTPUT_SECONDS);
      const question = { amounts: [...amounts], unlocked: true, recent_cutoff };
      const { histogram } = await checked(daemon.client.getOutputHistogram(question));
      return new Map(
        histogram.map(({ amount, unlocked_instances: unlocked, recent_instances: recent }) => [
          amount,
          { unlocked, recent },
        ]),
      );
    },
    outputs: async (names) => {
      const outputs = names.map(({ amount, globalIndex }) => ({ amount, index: BigInt(globalIndex) }));
      const { outs } = await checked(daemon.client.getOutsBin({ outputs, get_txid: false }));
      return outs.map(({ key, mask, unlocked }) => ({ key, commitment: mask, unlocked }));
    },
  };
}

/** Reasons why a node rejects a transaction, in monerod's order. Source: wallet2.cpp `get_text_reason`. */
const reasons = [
  ["low_mixin", "bad ring size"],
  ["double_spend", "double spend"],
  ["invalid_input", "invalid input"],
  ["invalid_output", "invalid output"],
  ["too_few_outputs", "too few outputs"],
  ["too_big", "too big"],
  ["overspend", "overspend"],
  ["fee_too_low", "fee too low"],
  ["sanity_check_failed", "tx sanity check failed"],
  ["not_relayed", "tx was not relayed"],
] as const;

/**
 * Sends a transaction and resolves with the node's verdict; `reason` may be empty. Rejects if the node can't be
 * reached.
 */
export type Relay = (blob: Uint8Array) => Promise<{ readonly accepted: boolean; readonly reason: string }>;

/** The status of a response that rejects the transaction. Source: core_rpc_server.cpp `on_send_raw_tx`. */
const REFUSED = "Failed";

/** Creates a function that sends transactions to the node; it throws `WalletRefusal` if the response has no verdict. */
export function relayOf(daemon: Daemon): Relay {
  return async (blob) => {
    const answer = await reached(daemon.client.sendRawTransaction({ tx_as_hex: toHex(blob) }));
    if (answer.status === "OK") return { accepted: true, reason: "" };
    // Any other status, such as BUSY, is not a verdict.
    if (answer.status !== REFUSED) await checked(Promise.resolve(answer));
    const flags = reasons.filter(([flag]) => answer[flag]).map(([, text]) => text);
    return { accepted: false, reason: toldByNode(answer.reason) || flags.join(", ") };
  };
}

/** Whether the node has a transaction (id in hex), in its pool or in a block. */
export async function isKnownTo(daemon: Daemon, id: string): Promise<boolean> {
  const { txs } = await checked(daemon.client.getTransactions({ txs_hashes: [id], prune: true }));
  return txs.some(({ tx_hash }) => tx_hash === id);
}

/**
 * Returns a function that tests whether there are too few outputs of a public amount for a ring. A node that isn't
 * trusted is queried for all amounts, so that the request doesn't reveal the wallet's. Source: wallet2.cpp
 * `select_available_outputs_from_histogram`.
 */
export async function isUnmixable(
  daemon: Daemon,
  amounts: readonly bigint[],
): Promise<(amount: bigint) => boolean> {
  const distinctAmounts = daemon.isTrusted ? [...new Set(amounts)].sort((a, b) => (a < b ? -1 : 1)) : [];
  const question = { amounts: distinctAmounts, min_count: RING_SIZE, unlocked: true };
  const { histogram } = await checked(daemon.client.getOutputHistogram(question));
  const mixable = new Set(histogram.map(({ amount }) => amount));
  return (amount) => !mixable.has(amount);
}
