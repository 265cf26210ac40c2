/** Plans transactions that send whole outputs, without change. */
import type { RandomSource } from "@anulo/crypto";
import { TimeSlice } from "@anulo/limits";
import { sumAmounts } from "@anulo/protocol";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { WalletRefusal } from "../refusal.ts";
import type { OutputPool } from "./output-pool.ts";
import {
  estimatedFee,
  isFull,
  MAX_DESTINATIONS,
  neededFee,
  type PlanContext,
  settleFee,
  withFee,
} from "./plan.ts";
import { pickRandomInput } from "./select.ts";
import type { Destination, PlannedTransaction } from "./stages.ts";

/** A sweep has no change, so one more destination fits. */
const MAX_OUTPUTS = MAX_DESTINATIONS + 1;

export type SweepRequest = {
  /** The receiver of everything; its amount is ignored. */
  readonly destination: Destination;
  /** Number of outputs with which each transaction pays the destination; at least 1. */
  readonly outputs: number;
  /** All of them are spent, and taken from the pool. */
  readonly inputs: OutputPool;
  /** These are spent as well, alternating with the others: outputs that may not pay for their own fee. */
  readonly dust: OutputPool;
  readonly random: RandomSource;
};

/** Divides everything but the fee equally; the remainder goes to the first outputs. */
function shareOut(inputs: readonly OwnedOutput[], request: SweepRequest, fee: bigint): PlannedTransaction {
  const total = sumAmounts(inputs) - fee;
  if (total <= 0n) throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "Transaction cannot pay for itself");
  const count = BigInt(request.outputs);
  const destinations = Array.from({ length: request.outputs }, (_, i) => ({
    ...request.destination,
    amount: total / count + (BigInt(i) < total % count ? 1n : 0n),
  }));
  if (destinations.some(({ amount }) => amount === 0n))
    throw new WalletRefusal("ZERO_AMOUNT", "destination amount is zero");
  return withFee(inputs, destinations, fee);
}

/** The first weight is that of a transaction that looks like the last one, with change in place of the last output. */
async function planOne(
  inputs: readonly OwnedOutput[],
  request: SweepRequest,
  context: PlanContext,
): Promise<PlannedTransaction> {
  const placeholders = Array.from({ length: Math.max(1, request.outputs - 1) }, () => ({
    ...request.destination,
    amount: 1n,
  }));
  const estimate = estimatedFee(inputs.length, 2, context);
  const first = withFee(inputs, placeholders, estimate);
  if (first.change < 0n) throw new WalletRefusal("NOT_ENOUGH_UNLOCKED_MONEY", "not enough unlocked money");
  const needed = await neededFee(first, context);
  return settleFee((fee) => shareOut(inputs, request, fee), needed, context);
}

/** Alternates dust and other inputs, so that no transaction is left with dust alone; `gathered` in atomic units. */
function nextPool(
  { inputs, dust }: { readonly inputs: OutputPool; readonly dust: OutputPool },
  count: number,
  { sum, context }: { readonly sum: bigint; readonly context: PlanContext },
): OutputPool {
  if (inputs.size === 0 || dust.size === 0) return inputs.size === 0 ? dust : inputs;
  const isDustsTurn = count % 2 === 1 || sum > estimatedFee(count + 1, 1, context);
  return isDustsTurn ? dust : inputs;
}

/** Plans transactions that together spend every input. Throws `WalletRefusal` when one can't pay its own fee. */
export async function planSweep(request: SweepRequest, context: PlanContext): Promise<PlannedTransaction[]> {
  if (request.outputs > MAX_OUTPUTS)
    throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "transaction is too big");
  const { random, inputs, dust } = request;
  const done: PlannedTransaction[] = [];
  const slice = new TimeSlice();
  let selection: OwnedOutput[] = [];
  let sum = 0n;
  while (inputs.size + dust.size > 0) {
    const pool = nextPool({ inputs, dust }, selection.length, { sum, context });
    const index = pickRandomInput(pool, selection, random);
    const input = pool.at(index);
    pool.removeAt(index);
    selection.push(input);
    sum += input.amount;
    if (slice.isOver) await slice.yield();
    if (inputs.size + dust.size > 0 && !isFull(selection.length, 2, context)) continue;
    done.push(await planOne(selection, request, context));
    selection = [];
  }
  return done;
}
