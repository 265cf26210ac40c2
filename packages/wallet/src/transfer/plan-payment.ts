/** Plans payments of given amounts, in as few transactions as fit. */
import type { RandomSource } from "@anulo/crypto";
import { runSliced } from "@anulo/limits";
import { sumAmounts } from "@anulo/protocol";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import type { Preferences } from "../preferences.ts";
import { WalletRefusal } from "../refusal.ts";
import { boundOf, compareAmount, type OutputPool, poolOf } from "./output-pool.ts";
import {
  estimatedFee,
  isFull,
  MAX_DESTINATIONS,
  neededFee,
  outputCount,
  type PlanContext,
  settleFee,
  withFee,
  withFeeSubtracted,
} from "./plan.ts";
import type { Preferable } from "./preferable.ts";
import { pickRandomInput, preferredInputs, relatednessOf, smallestInput } from "./select.ts";
import type { Destination, PlannedTransaction } from "./stages.ts";
import { isSameReceiver } from "./tx-keys.ts";

/** The outputs of one subaddress. */
export type OutputGroup = {
  readonly minor: number;
  /** Finds them, once the group is used; there may be none. */
  readonly find: () => OutputPool;
};

/** Outputs by subaddress, in the order in which the subaddresses are used up. */
export type OutputGroups = Iterable<OutputGroup> & {
  /** The group of a subaddress, by its number in the account; undefined if there is none. */
  of(minor: number): OutputGroup | undefined;
};

export type PaymentRequest = {
  /** Amounts above 0. */
  readonly destinations: readonly Destination[];
  readonly groups: OutputGroups;
  /** Outputs of rare public amounts: few decoys exist for them, so they come last. */
  readonly dustGroups: OutputGroups;
  /** RingCT outputs of which one or two may pay everything. */
  readonly preferable: Preferable;
  readonly random: RandomSource;
  readonly preferences: Preferences;
};

/** Unused outputs: those of the group in use, and the groups after it. */
type GroupsInUse = { pool: OutputPool; readonly rest: Iterator<OutputGroup> };

/** A transaction being planned: `inputs` pay `destinations`, the last of which may be paid in part only. */
type Draft = {
  readonly inputs: OwnedOutput[];
  readonly destinations: Destination[];
  planned: PlannedTransaction | undefined;
};

type Progress = Pick<PaymentRequest, "random" | "preferences"> & {
  readonly context: PlanContext;
  readonly groups: GroupsInUse;
  readonly dustGroups: GroupsInUse;
  /** Inputs that suffice for everything, to be used first. */
  preferred: OwnedOutput[];
  /** What is still to be paid. */
  readonly unpaid: Destination[];
  /** True when the last destination of the current draft continues in `unpaid[0]`. */
  isSplit: boolean;
  readonly drafts: Draft[];
  /** True while inputs are added for the fee alone. */
  isShortOfFee: boolean;
  availableForFee: bigint;
  neededFee: bigint;
};

const emptyDraft = (): Draft => ({
  inputs: [],
  destinations: [],
  planned: undefined,
});
const currentDraft = (progress: Progress): Draft => progress.drafts.at(-1)!;

/** Removes the first item by moving the last one to its position. Source: wallet2.cpp `pop_index`. */
function removeFirst<T>(items: T[]): void {
  const last = items.pop()!;
  if (items.length > 0) items[0] = last;
}

/** Removes an output from a pool and returns it. */
function takeAt(pool: OutputPool, index: number): OwnedOutput {
  const output = pool.at(index);
  pool.removeAt(index);
  return output;
}

/** Removes an output from a pool that may have it. */
function take(pool: OutputPool, output: OwnedOutput): void {
  const index = pool.indexOf(output);
  if (index !== -1) pool.removeAt(index);
}

/** Finds whether at least `count` outputs of a pool are worth `amount` (atomic units) or more; pauses in between. */
function* hasLarge(pool: OutputPool, amount: bigint, count: bigint): Generator<void, boolean> {
  const least = boundOf(amount);
  let total = 0n;
  for (const { from, to, greatest } of pool.runs()) {
    if (greatest < least.near) continue;
    for (let index = from; index < to && total < count; index++) {
      if (compareAmount(pool, index, least) >= 0) total++;
      if (index % 1024 === 1023) yield;
    }
  }
  return total >= count;
}

/**
 * If one input pays everything, a second one is added, so that most transactions have two; a small one, to consolidate
 * outputs, and only if nothing links it to the first. Undefined if there is none.
 */
async function pickUnneededInput(progress: Progress): Promise<OwnedOutput | undefined> {
  const unused = progress.groups.pool;
  const draft = currentDraft(progress);
  const { keptValue, keptCount } = progress.preferences;
  // Only a RingCT output is added without need: a public amount may have too few decoys.
  const index = await runSliced(smallestInput(unused, draft.inputs));
  if (index === undefined) return undefined;
  const isLarge = compareAmount(unused, index, boundOf(keptValue)) >= 0;
  if (isLarge && !(await runSliced(hasLarge(unused, keptValue, keptCount)))) return undefined;
  return relatednessOf(unused.at(index), draft.inputs[0]!) > 0 ? undefined : takeAt(unused, index);
}

/** Removes the next input from its group. */
async function takeInput(progress: Progress): Promise<OwnedOutput | undefined> {
  const [unused, dust] = [progress.groups.pool, progress.dustGroups.pool];
  if (unused.size + dust.size === 0) throw new WalletRefusal("TX_NOT_POSSIBLE", "tx not possible");
  const preferred = progress.preferred.pop();
  if (preferred !== undefined) {
    // All preferred inputs are of the subaddress that comes first.
    take(unused, preferred);
    take(dust, preferred);
    return preferred;
  }
  if (progress.unpaid.length === 0 && !progress.isShortOfFee) return await pickUnneededInput(progress);
  const candidates = unused.size > 0 ? unused : dust;
  return takeAt(candidates, pickRandomInput(candidates, currentDraft(progress).inputs, progress.random));
}

/** Index of the output of the current draft that already pays the next destination; -1 if a new output pays it. */
function placeOfNext({ drafts, unpaid, isSplit, preferences }: Progress): number {
  const { destinations } = drafts.at(-1)!;
  if (preferences.mergesDestinations)
    return destinations.findIndex((paid) => isSameReceiver(paid, unpaid[0]!));
  return isSplit ? destinations.length - 1 : -1;
}

/** Pays the next destination in the current draft; false when it has no room for another one. */
function payNext(progress: Progress, amount: bigint): boolean {
  const { destinations } = currentDraft(progress);
  const next = progress.unpaid[0]!;
  const place = placeOfNext(progress);
  const paid = destinations[place];
  if (paid !== undefined) destinations[place] = { ...paid, amount: paid.amount + amount };
  else {
    if (destinations.length >= MAX_DESTINATIONS) return false;
    destinations.push({ ...next, amount });
  }
  progress.isSplit = amount < next.amount;
  if (progress.isSplit) progress.unpaid[0] = { ...next, amount: next.amount - amount };
  else removeFirst(progress.unpaid);
  return true;
}

function lesser(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

/** Spends a new input's amount on the destinations; false when the draft has no room for another output. */
function spend(progress: Progress, amount: bigint): boolean {
  let available = amount;
  const { inputs, destinations } = currentDraft(progress);
  while (available > 0n && progress.unpaid.length > 0) {
    if (isFull(inputs.length, destinations.length + 1, progress.context)) return true;
    const next = progress.unpaid[0]!.amount;
    const paid = lesser(next, available);
    if (!payNext(progress, paid)) return false;
    available -= paid;
  }
  return true;
}

function isTimeToClose(progress: Progress): boolean {
  const { inputs, destinations } = currentDraft(progress);
  if (progress.preferred.length > 0) return false;
  if (progress.isShortOfFee) return progress.availableForFee >= progress.neededFee;
  const { context, unpaid } = progress;
  const isDone = unpaid.length === 0 || isFull(inputs.length, destinations.length + 1, context);
  if (isDone && destinations.length === 0)
    throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "transaction is too big");
  return isDone;
}

/** Takes a missing fee from a destination that is paid partly here and continues in the next transaction. */
function carveFee(progress: Progress, needed: bigint, available: bigint): bigint {
  const { destinations } = currentDraft(progress);
  if (needed <= available || !progress.isSplit) return available;
  const place = placeOfNext(progress);
  const partial = destinations[place];
  if (partial === undefined || partial.amount <= needed) return available;
  destinations[place] = { ...partial, amount: partial.amount - needed };
  progress.unpaid[0] = { ...progress.unpaid[0]!, amount: progress.unpaid[0]!.amount + needed };
  return needed;
}

const isFeeSubtracted = ({ destinations }: Draft): boolean => destinations.some(({ paysFee }) => paysFee);

/** Fixes the fee of a draft whose destinations pay it themselves; there must be no other draft. */
async function closeSubtracting({ context, unpaid, drafts }: Progress, draft: Draft): Promise<void> {
  const { inputs, destinations } = draft;
  if (unpaid.length > 0 || drafts.length > 1)
    throw new WalletRefusal(
      "GENERIC_TRANSFER_ERROR",
      "transfers whose destinations pay the fee cannot be split over multiple transactions",
    );
  const estimate = estimatedFee(inputs.length, outputCount(destinations, inputs), context);
  const planWith = (fee: bigint) => withFeeSubtracted([...inputs], destinations, fee);
  draft.planned = await settleFee(planWith, await neededFee(planWith(estimate), context), context);
}

/** Fixes the fee of the current draft and continues with the next one, or finds that its inputs don't cover the fee. */
async function closeDraft(progress: Progress): Promise<void> {
  const draft = currentDraft(progress);
  if (isFeeSubtracted(draft)) return closeSubtracting(progress, draft);
  const { context } = progress;
  const estimate = estimatedFee(draft.inputs.length, outputCount(draft.destinations, draft.inputs), context);
  progress.neededFee = estimate;
  progress.availableForFee = carveFee(progress, estimate, progress.availableForFee);
  progress.isShortOfFee = sumAmounts(draft.inputs) < sumAmounts(draft.destinations) + estimate;
  if (progress.isShortOfFee) return;

  const planned = withFee(draft.inputs, draft.destinations, estimate);
  progress.neededFee = await neededFee(planned, context);
  const available = planned.fee + planned.change;
  progress.availableForFee = carveFee(progress, progress.neededFee, available);
  progress.isShortOfFee = progress.neededFee > progress.availableForFee;
  if (progress.isShortOfFee) return;

  const [inputs, destinations] = [[...draft.inputs], [...draft.destinations]];
  draft.planned = await settleFee((fee) => withFee(inputs, destinations, fee), progress.neededFee, context);
  if (progress.unpaid.length === 0) return;
  progress.drafts.push(emptyDraft());
  progress.isSplit = false;
}

/** Continues with the next subaddress when the outputs of the one in use are used up. */
function advanceGroups(progress: Progress): void {
  if (progress.unpaid.length === 0 && !progress.isShortOfFee) return;
  useNext(progress.groups);
  useNext(progress.dustGroups);
}

/** Replaces a pool that is used up by that of the next group that has any output. */
function useNext(groups: GroupsInUse): void {
  while (groups.pool.size === 0) {
    const next = groups.rest.next();
    if (next.done === true) return;
    groups.pool = next.value.find();
  }
}

function hasHidden(pool: OutputPool): boolean {
  for (const { from, to, mayHaveHidden } of pool.runs())
    for (let index = from; mayHaveHidden && index < to; index++) if (pool.isHiddenAt(index)) return true;
  return false;
}

function isUnfinished(progress: Progress): boolean {
  if (progress.unpaid.length > 0 || progress.isShortOfFee || progress.preferred.length > 0) return true;
  return currentDraft(progress).inputs.length <= 1 && hasHidden(progress.groups.pool);
}

/** The groups, with that of an output's subaddress first if it has any output. */
function startingWith(groups: OutputGroups, first: OwnedOutput | undefined): GroupsInUse {
  const preferred = first && groups.of(first.subaddress.minor);
  const pool = preferred?.find() ?? poolOf([]);
  const rest = pool.size > 0 ? afterFirst(groups, preferred!.minor) : groups[Symbol.iterator]();
  const started = { pool, rest };
  useNext(started);
  return started;
}

/** The groups after that of a subaddress, which has changed places with the first. */
function* afterFirst(groups: OutputGroups, minor: number): Generator<OutputGroup> {
  const all = [...groups];
  const at = all.findIndex((group) => group.minor === minor);
  all[at] = all[0]!;
  yield* all.slice(1);
}

/** The subaddress of the preferred inputs comes first. */
async function startProgress(request: PaymentRequest, context: PlanContext): Promise<Progress> {
  const { destinations, preferable, random, preferences } = request;
  const isSubtracted = destinations.some(({ paysFee }) => paysFee);
  const needed = sumAmounts(destinations) + (isSubtracted ? 0n : estimatedFee(2, 2, context));
  const preferred = await runSliced(preferredInputs(preferable, needed));
  return {
    random,
    preferences,
    context,
    preferred,
    unpaid: [...destinations],
    isSplit: false,
    drafts: [emptyDraft()],
    groups: startingWith(request.groups, preferred[0]),
    dustGroups: startingWith(request.dustGroups, preferred[0]),
    isShortOfFee: false,
    availableForFee: 0n,
    neededFee: 0n,
  };
}

/**
 * Plans transactions that pay every destination in full. Throws `WalletRefusal` (TX_NOT_POSSIBLE and others) if the
 * outputs are not sufficient.
 */
export async function planPayment(
  request: PaymentRequest,
  context: PlanContext,
): Promise<PlannedTransaction[]> {
  const progress = await startProgress(request, context);
  while (isUnfinished(progress)) {
    const input = await takeInput(progress);
    if (input === undefined) break;
    currentDraft(progress).inputs.push(input);
    let hasRoom = true;
    if (progress.isShortOfFee) progress.availableForFee += input.amount;
    else hasRoom = spend(progress, input.amount);
    if (!hasRoom || isTimeToClose(progress)) await closeDraft(progress);
    advanceGroups(progress);
  }
  return progress.drafts.flatMap(({ planned }) => planned ?? []);
}
