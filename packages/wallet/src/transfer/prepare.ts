/** From a request to ringed transactions: checks the funds, plans, requests rings. */
import { commit, type RandomSource } from "@anulo/crypto";
import {
  estimateTransactionSize,
  formatAmount,
  isDecomposedAmount,
  MAX_AMOUNT,
  sumAmounts,
  toHex,
} from "@anulo/protocol";
import type { AccountBalance } from "../history/balance.ts";
import type { Preferences } from "../preferences.ts";
import { WalletRefusal } from "../refusal.ts";
import type { OwnedOutput } from "../state.ts";
import type { WorkThreads } from "../threads/work-threads.ts";
import { knownExtraSize } from "./destinations.ts";
import { fractionalThreshold, type PlanContext, sum } from "./plan.ts";
import { planPayment } from "./plan-payment.ts";
import { planSweep } from "./plan-sweep.ts";
import { randomIndex } from "./random.ts";
import { createRings, type OutputSource, type RingMemory } from "./rings.ts";
import {
  type Destination,
  type FeeRate,
  type PlannedTransaction,
  type Receiver,
  RING_SIZE,
  type Ring,
  type RingedTransaction,
} from "./stages.ts";
import { weightOf } from "./weigh.ts";

/** The wallet that pays, and the other dependencies of preparing. `feeRate` is for the requested priority. */
export type PrepareParts = {
  readonly wallet: {
    readonly preferences: Preferences;
    readonly spendableOutputs: () => readonly OwnedOutput[];
  };
  readonly balanceOf: (account: number) => AccountBalance;
  readonly source: OutputSource;
  readonly memory: RingMemory;
  readonly feeRate: FeeRate;
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

/** Outputs of the addresses to spend from, in the order in which the wallet found them. */
function outputsOfAddresses({ wallet }: PrepareParts, { account, minors }: Common): OwnedOutput[] {
  return wallet.spendableOutputs().filter(({ subaddress: { major, minor } }) => {
    return major === account && (minors.length === 0 || minors.includes(minor));
  });
}

/** Those of these outputs that are worth more than the fee for spending them. */
function usableOutputs(parts: PrepareParts, common: Common): OwnedOutput[] {
  const { ignoresFractional } = parts.wallet.preferences;
  const threshold = ignoresFractional ? fractionalThreshold(parts.feeRate) : 0n;
  return outputsOfAddresses(parts, common).filter(({ amount }) => amount >= threshold);
}

/** Whether few other outputs have its amount: it dates from before amounts were split into digits. */
const isDust = ({ rct, amount }: OwnedOutput): boolean => !rct && !isDecomposedAmount(amount);

function groupByAddress(outputs: readonly OwnedOutput[]): Map<number, OwnedOutput[]> {
  const groups = new Map<number, OwnedOutput[]>();
  for (const output of outputs) {
    const group = groups.get(output.subaddress.minor);
    if (group === undefined) groups.set(output.subaddress.minor, [output]);
    else group.push(output);
  }
  return groups;
}

/** Sorts addresses so that the one with most unlocked money comes first. */
function byUnlockedMoney(
  { addresses }: AccountBalance,
  groups: ReadonlyMap<number, OwnedOutput[]>,
): OwnedOutput[][] {
  const unlocked = new Map(addresses.map((each) => [each.minor, each.unlocked]));
  const moneyOf = (minor: number) => unlocked.get(minor) ?? 0n;
  return [...groups]
    .sort(([a], [b]) => (moneyOf(a) === moneyOf(b) ? 0 : moneyOf(a) < moneyOf(b) ? 1 : -1))
    .map(([, outputs]) => outputs);
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
  const asked = addresses.filter(({ minor }) => minors.length === 0 || minors.includes(minor));
  if (needed > sum(asked.map(({ balance }) => balance)))
    throw new WalletRefusal("NOT_ENOUGH_MONEY", "not enough money");
  if (needed > sum(asked.map(({ unlocked }) => unlocked)))
    throw new WalletRefusal("NOT_ENOUGH_UNLOCKED_MONEY", "not enough unlocked money");
}

/** Whether payments may spend an output of this amount. */
function isPreferred({ wallet }: PrepareParts): (output: OwnedOutput) => boolean {
  const { leastAmount, greatestAmount } = wallet.preferences;
  return ({ amount }) => amount >= leastAmount && amount <= greatestAmount;
}

/** Prepares transactions that pay every destination. Empty if no output is worth spending. */
export async function preparePayment(parts: PrepareParts, payment: Payment): Promise<RingedTransaction[]> {
  const balance = parts.balanceOf(payment.account);
  checkFunds(parts, payment, balance);
  const usable = usableOutputs(parts, payment).filter(isPreferred(parts));
  if (usable.length === 0) return [];
  const richestFirst = (outputs: OwnedOutput[]) => byUnlockedMoney(balance, groupByAddress(outputs));
  const groups = richestFirst(usable.filter((output) => !isDust(output)));
  const dustGroups = richestFirst(usable.filter(isDust));
  const preferable = outputsOfAddresses(parts, payment)
    .filter(isPreferred(parts))
    .filter(({ rct }) => rct);
  const { destinations } = payment;
  const { context, ring } = createContext(parts, destinations);
  const { random, wallet } = parts;
  const { preferences } = wallet;
  const request = { destinations, groups, dustGroups, preferable, random, preferences };
  const planned = await planPayment(request, context);
  return Promise.all(planned.map(ring));
}

function sweepError(message: string): WalletRefusal {
  return new WalletRefusal("GENERIC_TRANSFER_ERROR", message);
}

/** All outputs of the requested addresses; if none is requested, those of one random address, the primary one last. */
function chooseSwept(parts: PrepareParts, sweep: Sweep): OwnedOutput[] {
  const { account, minors, below } = sweep;
  const hasUnlocked = parts.wallet.spendableOutputs().some(({ subaddress }) => subaddress.major === account);
  if (!hasUnlocked) throw sweepError("No unlocked balance in the specified account");
  const usable = usableOutputs(parts, sweep);
  if (usable.length === 0) throw sweepError("No unlocked balance in the specified subaddress(es)");
  const small = usable.filter(({ amount }) => below === 0n || amount < below);
  if (small.length === 0) throw sweepError("The smallest amount found is not below the specified threshold");
  if (minors.length > 0) return small;
  const groups = groupByAddress(small);
  if (groups.size > 1) groups.delete(0);
  return [...groups.values()][randomIndex(parts.random, groups.size)]!;
}

/** Prepares transactions that send whole outputs. */
export async function prepareSweep(
  parts: PrepareParts,
  sweep: Sweep,
  inputs: readonly OwnedOutput[] = chooseSwept(parts, sweep),
): Promise<RingedTransaction[]> {
  const { destination, outputs } = sweep;
  const { context, ring } = createContext(parts, [destination]);
  const swept = { inputs: inputs.filter((output) => !isDust(output)), dust: inputs.filter(isDust) };
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
    inputs: inputs.filter(paysItself),
    dust: inputs.filter((output) => !paysItself(output)),
  };
  const planned = await planSweep({ destination, outputs: 1, ...swept, random }, context);
  return planned.map(withoutDecoys);
}
