/** What some unspent outputs have in common for a payment: found once, and true until one of them or the wallet changes. */
import { isDecomposedAmount } from "@anulo/protocol";
import { BLOCK_SECONDS, unlockHeight, waitsForTime } from "./locked-places.ts";
import { isSpendable, type OutputPage, PAGE_OUTPUTS, type SpendableQuestion } from "./output-page.ts";

/**
 * RingCT outputs; outputs that have decoys enough: these, and those whose public amounts are common; and the others, of
 * rare public amounts.
 */
export type FreeKind = "hidden" | "clear" | "dust";
const SLOTS: Readonly<Record<FreeKind, number>> = { hidden: 0, clear: 1, dust: 2 };

/** Which outputs a payment may spend, by amounts in atomic units. */
export type FreeFilter = {
  readonly kind: FreeKind;
  readonly question: SpendableQuestion;
  readonly leastAmount: bigint;
  readonly greatestAmount: bigint;
};

/** The places of an array from one index to before another. */
export type SomePlaces = { readonly places: Uint32Array; readonly from: number; readonly to: number };

/** Places, and what is known of them, by kind. */
type WithSummary = {
  readonly places: Uint32Array;
  readonly length: number;
  readonly summaryByKind: (KeptSummary | undefined)[];
};

export type Summary = {
  /** Number of those that match. */
  count: number;
  /** Which of them match, a bit each from the first on; undefined if all or none. */
  mask: Uint32Array | undefined;
  /** The numbers nearest to the least and the greatest amount of those that match. */
  least: number;
  greatest: number;
  /** Whether a RingCT output matches. */
  hasHidden: boolean;
};

/** The same, and for which other questions the same outputs match. */
export type KeptSummary = Summary & {
  readonly needsKeyImage: boolean;
  hasUnknownImages: boolean;
  readonly leastAmount: bigint;
  readonly greatestAmount: bigint;
  /** Numbers nearest to the greatest amount that is too small, and to the least one that is not. */
  greatestBelow: number;
  leastWithin: number;
  /** From this height to below that one. */
  fromHeight: number;
  toHeight: number;
  /** From this time (seconds since 1970) to before that one. */
  fromSeconds: number;
  toSeconds: number;
};

/** Whether few other outputs have a public amount: it dates from before amounts were split into digits. */
export const isRareAmount = (amount: bigint): boolean => !isDecomposedAmount(amount);

/** Notes until when an output stays locked, or since when it is not. */
function noteLock(
  keptSummary: KeptSummary,
  page: OutputPage,
  index: number,
  question: SpendableQuestion,
): void {
  const lock = page.lockAt(index);
  const opensAt = unlockHeight(lock);
  if (opensAt <= question.height) keptSummary.fromHeight = Math.max(keptSummary.fromHeight, opensAt);
  else keptSummary.toHeight = Math.min(keptSummary.toHeight, opensAt);
  if (!waitsForTime(lock)) return;
  // The leeway of its rule is this much at most: before, nothing opens.
  const time = Number(lock.unlockTime);
  if (question.seconds >= time) keptSummary.fromSeconds = Math.max(keptSummary.fromSeconds, time);
  else keptSummary.toSeconds = Math.min(keptSummary.toSeconds, time - BLOCK_SECONDS);
}

/** What is to be known of the outputs at some places of an array, at most as many as a chunk has. */
export function summarize(pages: readonly OutputPage[], some: SomePlaces, filter: FreeFilter): KeptSummary {
  const { kind, question, leastAmount, greatestAmount } = filter;
  const keptSummary: KeptSummary = {
    count: 0,
    mask: undefined,
    least: Number.POSITIVE_INFINITY,
    greatest: -1,
    hasHidden: false,
    needsKeyImage: question.needsKeyImage,
    hasUnknownImages: false,
    leastAmount,
    greatestAmount,
    greatestBelow: -1,
    leastWithin: Number.POSITIVE_INFINITY,
    fromHeight: 0,
    toHeight: Number.POSITIVE_INFINITY,
    fromSeconds: Number.NEGATIVE_INFINITY,
    toSeconds: Number.POSITIVE_INFINITY,
  };
  const { places, from, to } = some;
  const [nearLeast, nearGreatest] = [Number(leastAmount), Number(greatestAmount)];
  const mask = new Uint32Array((to - from + 31) >> 5);
  for (let i = from; i < to; i++) {
    const place = places[i]!;
    const page = pages[Math.floor(place / PAGE_OUTPUTS)]!;
    const index = place % PAGE_OUTPUTS;
    const isHidden = page.is("rct", index);
    if (!page.is("keyImage", index)) keptSummary.hasUnknownImages = true;
    if (isHidden ? kind === "dust" : !isVisibleOfKind(page, index, kind)) continue;
    const near = page.amountNumber(index);
    if (near >= nearGreatest && page.columns.amounts[index]! > greatestAmount) continue;
    if (near < nearLeast || (near === nearLeast && page.columns.amounts[index]! < leastAmount)) {
      if (near > keptSummary.greatestBelow) keptSummary.greatestBelow = near;
      continue;
    }
    if (near < keptSummary.leastWithin) keptSummary.leastWithin = near;
    if (page.opensBy > question.height) noteLock(keptSummary, page, index, question);
    else if (page.opensBy > keptSummary.fromHeight) keptSummary.fromHeight = page.opensBy;
    if (!isSpendable(page, index, question)) continue;
    mask[(i - from) >> 5]! |= 1 << ((i - from) & 31);
    keptSummary.count += 1;
    if (near < keptSummary.least) keptSummary.least = near;
    if (near > keptSummary.greatest) keptSummary.greatest = near;
    if (isHidden) keptSummary.hasHidden = true;
  }
  if (keptSummary.count !== 0 && keptSummary.count !== to - from) keptSummary.mask = mask;
  return keptSummary;
}

/** Whether an output with a public amount is of a kind. */
function isVisibleOfKind(page: OutputPage, index: number, kind: FreeKind): boolean {
  return kind !== "hidden" && isRareAmount(page.columns.amounts[index]!) === (kind === "dust");
}

function isValid(keptSummary: KeptSummary, { question, leastAmount, greatestAmount }: FreeFilter): boolean {
  const { height, seconds, needsKeyImage } = question;
  if (height < keptSummary.fromHeight || height >= keptSummary.toHeight) return false;
  if (seconds < keptSummary.fromSeconds || seconds >= keptSummary.toSeconds) return false;
  if (keptSummary.hasUnknownImages && needsKeyImage !== keptSummary.needsKeyImage) return false;
  if (greatestAmount !== keptSummary.greatestAmount) return false;
  if (leastAmount === keptSummary.leastAmount) return true;
  const near = Number(leastAmount);
  return keptSummary.greatestBelow < near && near < keptSummary.leastWithin;
}

/** The same of a whole chunk, from the last time if that is still true. */
export function summaryOf(pages: readonly OutputPage[], chunk: WithSummary, filter: FreeFilter): Summary {
  const former = chunk.summaryByKind[SLOTS[filter.kind]];
  if (former !== undefined && isValid(former, filter)) return former;
  const summary = summarize(pages, { places: chunk.places, from: 0, to: chunk.length }, filter);
  chunk.summaryByKind[SLOTS[filter.kind]] = summary;
  return summary;
}

/** Whether `summaryOf` knows that already. */
export function hasSummary(chunk: WithSummary, filter: FreeFilter): boolean {
  const former = chunk.summaryByKind[SLOTS[filter.kind]];
  return former !== undefined && isValid(former, filter);
}

/** Those of some places that match. */
export function matching({ places, from, to }: SomePlaces, { count, mask }: Summary): Uint32Array {
  if (mask === undefined) return places.subarray(from, count === 0 ? from : to);
  const matches = new Uint32Array(count);
  let length = 0;
  for (let i = 0; i < to - from; i++)
    if ((mask[i >> 5]! & (1 << (i & 31))) !== 0) matches[length++] = places[from + i]!;
  return matches;
}
