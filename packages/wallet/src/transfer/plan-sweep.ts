/** Plans transactions that send whole outputs, without change. */
import type { RandomSource } from "@anulo/crypto";
import { sumAmounts } from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";
import type { OwnedOutput } from "../state.ts";
import {
  estimatedFee,
  isFull,
  MAX_DESTINATIONS,
  neededFee,
  type PlanContext,
  settleFee,
  withFee,
} from "./plan.ts";
import { type Chosen, pickRandomInput } from "./select.ts";
import type { Destination, PlannedTransaction } from "./stages.ts";

/** A sweep has no change, so one more destination fits. */
const MAX_OUTPUTS = MAX_DESTINATIONS + 1;

export type SweepRequest = {
  /** The receiver of everything; its amount is ignored. */
  readonly destination: Destination;
  /** Number of outputs with which each transaction pays the destination; at least 1. */
  readonly outputs: number;
  /** All of them are spent. */
  readonly inputs: readonly OwnedOutput[];
  /** These are spent as well, alternating with the others: outputs that may not pay for their own fee. */
  readonly dust: readonly OwnedOutput[];
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
function nextInput(
  { inputs, dust }: Pick<SweepRequest, "inputs" | "dust">,
  chosen: Chosen,
  { gathered, context, random }: { gathered: bigint; context: PlanContext; random: RandomSource },
): OwnedOutput {
  if (inputs.length === 0 || dust.length === 0)
    return pickRandomInput(inputs.length === 0 ? dust : inputs, chosen, random);
  const count = chosen.inputs.length;
  const isDustsTurn = count % 2 === 1 || gathered > estimatedFee(count + 1, 1, context);
  return pickRandomInput(isDustsTurn ? dust : inputs, chosen, random);
}

const noneChosen = (): Chosen & { readonly inputs: OwnedOutput[] } => ({
  inputs: [],
  relatedness: new Map(),
});

/** Plans transactions that together spend every input. Throws `WalletRefusal` when one can't pay its own fee. */
export async function planSweep(request: SweepRequest, context: PlanContext): Promise<PlannedTransaction[]> {
  if (request.outputs > MAX_OUTPUTS)
    throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "transaction is too big");
  const { random } = request;
  const done: PlannedTransaction[] = [];
  let { inputs, dust } = request;
  let chosen = noneChosen();
  let gathered = 0n;
  while (inputs.length + dust.length > 0) {
    const input = nextInput({ inputs, dust }, chosen, { gathered, context, random });
    inputs = inputs.filter((other) => other !== input);
    dust = dust.filter((other) => other !== input);
    chosen.inputs.push(input);
    gathered += input.amount;
    if (inputs.length + dust.length > 0 && !isFull(chosen.inputs.length, 2, context)) continue;
    done.push(await planOne(chosen.inputs, request, context));
    chosen = noneChosen();
  }
  return done;
}
