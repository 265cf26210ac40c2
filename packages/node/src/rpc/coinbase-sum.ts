import { feeOf } from "@anulo/consensus";
import { readTransaction } from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";
import type { NodeContext } from "./context.ts";
import { blockAt } from "./describe-block.ts";
import { mapInTurns, range } from "./in-turns.ts";
import { splitWide } from "./wide-number.ts";

interface BlockMoney {
  readonly emission: bigint;
  readonly fees: bigint;
}

function moneyOf(read: ChainReader, height: number): BlockMoney {
  const { reward } = blockAt(read, height)!;
  const { firstTransactionId, transactionCount } = read.blockInfo(height)!;
  let fees = 0n;
  for (const id of range(firstTransactionId + 1, firstTransactionId + transactionCount)) {
    const pruned = read.prunedTransaction(id);
    if (pruned !== undefined) fees += feeOf({ transaction: readTransaction(pruned, { pruned: true }) });
  }
  return { emission: reward - fees, fees };
}

/** Coins made and fees paid (atomic units) in `count` blocks from a height on, as far as there are so many. */
export async function coinbaseSum(
  params: { height: number; count: number },
  { parts, signal, rows }: NodeContext,
) {
  const snapshot = parts.store.snapshot();
  try {
    const chainHeight = snapshot.height();
    if (params.height >= chainHeight || params.count > chainHeight) return tooLarge;
    const end = Math.min(chainHeight, params.height + params.count);
    const sums = await mapInTurns(range(params.height, end), (height) => moneyOf(snapshot, height), {
      signal,
      rows,
    });
    const emission = splitWide(sums.reduce((sum, block) => sum + block.emission, 0n));
    const fees = splitWide(sums.reduce((sum, block) => sum + block.fees, 0n));
    return {
      emission_amount: emission.low,
      emission_amount_top64: emission.high,
      wide_emission_amount: emission.hex,
      fee_amount: fees.low,
      fee_amount_top64: fees.high,
      wide_fee_amount: fees.hex,
    };
  } finally {
    snapshot.close();
  }
}

const tooLarge = {
  status: "height or count is too large",
  emission_amount: 0n,
  emission_amount_top64: 0n,
  wide_emission_amount: "",
  fee_amount: 0n,
  fee_amount_top64: 0n,
  wide_fee_amount: "",
};
