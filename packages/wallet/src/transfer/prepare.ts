/** From a request to ringed transactions: checks the funds, plans, requests rings. */
import { commit, type RandomSource } from "@anulo/crypto";
import { runSliced } from "@anulo/limits";
import { estimateTransactionSize, formatAmount, MAX_AMOUNT, sumAmounts, toHex } from "@anulo/protocol";
import type { AccountBalance } from "../history/balance.ts";
import type { OutputBook } from "../outputs/output-book.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { WalletRefusal } from "../refusal.ts";
import type { WorkThreads } from "../threads/work-threads.ts";
import {
  type CandidateParts,
  isDust,
  placesOfAddresses,
  placesWhere,
  poolsFor,
  usablePlaces,
} from "./candidates.ts";
import { knownExtraSize } from "./destinations.ts";
import { poolOf, poolOfPlaces, whileUnchanged } from "./output-pool.ts";
import { type PlanContext, sum } from "./plan.ts";
import { planPayment } from "./plan-payment.ts";
import { planSweep, type SweepRequest } from "./plan-sweep.ts";
import { randomIndex } from "./random.ts";
import { createRings, type OutputSource, type RingMemory } from "./rings.ts";
import {
  type Destination,
  type PlannedTransaction,
  type Receiver,
  RING_SIZE,
  type Ring,
  type RingedTransaction,
} from "./stages.ts";
import { weightOf } from "./weigh.ts";

/** The wallet that pays, and the other dependencies of preparing. */
export type PrepareParts = CandidateParts & {
  readonly balanceOf: (account: number) => AccountBalance;
  readonly source: OutputSource;
  readonly memory: RingMemory;
  readonly change: Receiver;
  readonly random: RandomSource;
  readonly threads: WorkThreads;
};

type Common = {
  readonly account: number;
  /** Address numbers of the account to spend from; empty for all. */
  readonly minors: readonly number[];
};
export type Payment = Common & { readonly destinations: readonly Destination[] };
export type Sweep = Common & {
  readonly destination: Destination;
  /** Number of outputs that a transaction shall have. */
  readonly outputs: number;
  /** Only outputs of less than this many atomic units; 0 for all. */
  readonly below: bigint;
};

/** The context of planning, and the rings that were requested for weighing. */
function createContext(parts: PrepareParts, destinations: readonly Destination[]) {
  const { source, memory, random, threads, change, feeRate } = parts;
  const fetched = new Map<string, Promise<Ring[]>>();
  const ringsOf = (inputs: readonly OwnedOutput[]): Promise<Ring[]> => {
    const id = inputs.map(({ oneTimeKey }) => toHex(oneTimeKey)).join();
    const rings = fetched.get(id) ?? createRings({ inputs, source, memory, random, threads });
    fetched.set(id, rings);
    return rings;
  };
  const ring = async (
    planned: Omit<RingedTransaction, "rings" | "unlockTime">,
  ): Promise<RingedTransaction> => ({
    ...planned,
    unlockTime: 0n,
    rings: await ringsOf(planned.inputs),
  });
  const context: PlanContext = {
    fee: feeRate,
    extraSize: knownExtraSize(destinations),
    weigh: async (planned) => weightOf(await ring(planned), change),
  };
  return { context, ring };
}

function checkAmounts(destinations: readonly Destination[]): bigint {
  if (destinations.some(({ amount }) => amount === 0n))
    throw new WalletRefusal("ZERO_AMOUNT", "destination amount is zero");
  const needed = sumAmounts(destinations);
  if (needed > MAX_AMOUNT)
    throw new WalletRefusal(
      "GENERIC_TRANSFER_ERROR",
      `transaction sum + fee exceeds ${formatAmount(MAX_AMOUNT)}`,
    );
  return needed;
}

/** Throws different errors for missing money and for locked money. */
function checkFunds(
  { feeRate }: PrepareParts,
  { minors, destinations }: Payment,
  { addresses }: AccountBalance,
): void {
  const shape = { inputs: 1, outputs: 2, ringSize: RING_SIZE, extraSize: knownExtraSize(destinations) };
  const leastFee = feeRate.feePerByte * BigInt(estimateTransactionSize(shape));
  const isSubtracted = destinations.some(({ paysFee }) => paysFee);
  const needed = checkAmounts(destinations) + (isSubtracted ? 0n : leastFee);
  const minorSet = new Set(minors);
  const ownAddresses = addresses.filter(({ minor }) => minors.length === 0 || minorSet.has(minor));
  if (needed > sum(ownAddresses.map(({ balance }) => balance)))
    throw new WalletRefusal("NOT_ENOUGH_MONEY", "not enough money");
  if (needed > sum(ownAddresses.map(({ unlocked }) => unlocked)))
    throw new WalletRefusal("NOT_ENOUGH_UNLOCKED_MONEY", "not enough unlocked money");
}

/** Prepares transactions that pay every destination. Empty if no output is worth spending. */
export async function preparePayment(parts: PrepareParts, payment: Payment): Promise<RingedTransaction[]> {
  const balance = parts.balanceOf(payment.account);
  checkFunds(parts, payment, balance);
  const pools = await runSliced(
    whileUnchanged(parts.wallet.state.outputs, poolsFor(parts, payment, balance)),
  );
  if (pools === undefined) return [];
  const { destinations } = payment;
  const { context, ring } = createContext(parts, destinations);
  const { random, wallet } = parts;
  const request = { destinations, ...pools, random, preferences: wallet.preferences };
  const planned = await planPayment(request, context);
  return Promise.all(planned.map(ring));
}

function sweepError(message: string): WalletRefusal {
  return new WalletRefusal("GENERIC_TRANSFER_ERROR", message);
}

/** Chooses all outputs of the requested addresses; if none is requested, those of one random address, the primary one last. */
function* chooseSwept(parts: PrepareParts, sweep: Sweep): Generator<void, Uint32Array> {
  const { minors, below } = sweep;
  const { outputs } = parts.wallet.state;
  const spendable = yield* outputs.spendable(sweep.account, parts.wallet.spendableNow);
  if (spendable.length === 0) throw sweepError("No unlocked balance in the specified account");
  const usable = yield* usablePlaces(parts, yield* placesOfAddresses(parts, spendable, minors));
  if (usable.length === 0) throw sweepError("No unlocked balance in the specified subaddress(es)");
  const small = yield* placesWhere(usable, (place) => below === 0n || outputs.amountOf(place) < below);
  if (small.length === 0) throw sweepError("The smallest amount found is not below the specified threshold");
  if (minors.length > 0) return small;
  const all = yield* minorsOf(outputs, small);
  const eligible = all.filter((minor) => all.length === 1 || minor !== 0);
  const minorToSweep = eligible[randomIndex(parts.random, eligible.length)]!;
  return yield* placesWhere(small, (place) => outputs.minorOf(place) === minorToSweep);
}

/** Finds the addresses of outputs, in the order in which they first appear. */
function* minorsOf(outputs: OutputBook, places: Uint32Array): Generator<void, number[]> {
  const minors = new Set<number>();
  for (const place of places) {
    minors.add(outputs.minorOf(place));
    yield;
  }
  return [...minors];
}

type Swept = Pick<SweepRequest, "inputs" | "dust">;

function sweptOf(outputs: readonly OwnedOutput[]): Swept {
  return { inputs: poolOf(outputs.filter((each) => !isDust(each))), dust: poolOf(outputs.filter(isDust)) };
}

function* findSwept(parts: PrepareParts, sweep: Sweep): Generator<void, Swept> {
  const { outputs } = parts.wallet.state;
  const places = yield* chooseSwept(parts, sweep);
  const isDustAt = (place: number) =>
    isDust({ rct: outputs.isHidden(place), amount: outputs.amountOf(place) });
  const dust = outputs.isAllHidden ? new Uint32Array(0) : yield* placesWhere(places, isDustAt);
  const others = dust.length === 0 ? places : yield* placesWhere(places, (place) => !isDustAt(place));
  return { inputs: poolOfPlaces(outputs, others), dust: poolOfPlaces(outputs, dust) };
}

/** Prepares transactions that send whole outputs. */
export async function prepareSweep(
  parts: PrepareParts,
  sweep: Sweep,
  selection?: readonly OwnedOutput[],
): Promise<RingedTransaction[]> {
  const { destination, outputs } = sweep;
  const find = () => runSliced(whileUnchanged(parts.wallet.state.outputs, findSwept(parts, sweep)));
  const swept = selection === undefined ? await find() : sweptOf(selection);
  const { context, ring } = createContext(parts, [destination]);
  const planned = await planSweep({ destination, outputs, ...swept, random: parts.random }, context);
  return Promise.all(planned.map(ring));
}

/** Rings of one member: the output that is spent. */
function withoutDecoys(planned: PlannedTransaction): RingedTransaction {
  const rings = planned.inputs.map(({ oneTimeKey, globalIndex, mask, amount }) => {
    const member = { globalIndex: Number(globalIndex), key: oneTimeKey, commitment: commit(mask, amount) };
    return { members: [member], realIndex: 0 };
  });
  return { ...planned, rings, unlockTime: 0n, isVisible: true };
}

/**
 * Prepares transactions that send outputs from before RingCT, whose amounts have too few decoys for a ring, to
 * `destination`, in the amounts that were usual then. Source: wallet2.cpp `create_unmixable_sweep_transactions`.
 */
export async function prepareUnmixable(
  { feeRate, change, random }: Pick<PrepareParts, "feeRate" | "change" | "random">,
  inputs: readonly OwnedOutput[],
  destination: Destination,
): Promise<RingedTransaction[]> {
  const context: PlanContext = {
    fee: feeRate,
    extraSize: 0,
    isVisible: true,
    weigh: async (planned) => weightOf(withoutDecoys(planned), change),
  };
  const paysItself = ({ amount }: OwnedOutput) => amount >= feeRate.feePerByte;
  const swept = {
    inputs: poolOf(inputs.filter(paysItself)),
    dust: poolOf(inputs.filter((output) => !paysItself(output))),
  };
  const planned = await planSweep({ destination, outputs: 1, ...swept, random }, context);
  return planned.map(withoutDecoys);
}
