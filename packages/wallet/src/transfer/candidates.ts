/** Which outputs a payment may spend: places of the wallet's book, found without making an output. */
import type { AccountBalance } from "../history/balance.ts";
import { type FreeFilter, isRareAmount } from "../outputs/free-summary.ts";
import type { OutputBook } from "../outputs/output-book.ts";
import type { SpendableQuestion } from "../outputs/output-page.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import type { Preferences } from "../preferences.ts";
import { boundOf, poolOfParts } from "./output-pool.ts";
import { fractionalThreshold } from "./plan.ts";
import type { OutputGroup, OutputGroups, PaymentRequest } from "./plan-payment.ts";
import { type Preferable, preferableIn } from "./preferable.ts";
import type { FeeRate } from "./stages.ts";

/** The wallet that pays, and the rate of the fee for the requested priority. */
export type CandidateParts = {
  readonly wallet: {
    readonly preferences: Preferences;
    readonly state: { readonly outputs: OutputBook };
    /** Decides what can be spent now. */
    readonly spendableNow: SpendableQuestion;
  };
  readonly feeRate: FeeRate;
};

/** Places between two pauses. */
const STEP = 1024;

/** Finds those of some places that are wanted: the same array if all are. Pauses in between. */
export function* placesWhere(
  places: Uint32Array,
  isWanted: (place: number) => boolean,
): Generator<void, Uint32Array> {
  let cached: Uint32Array | undefined;
  let count = 0;
  for (let at = 0; at < places.length; at++) {
    if (at % STEP === STEP - 1) yield;
    const place = places[at]!;
    if (isWanted(place)) {
      if (cached !== undefined) cached[count] = place;
      count += 1;
    } else cached ??= places.slice();
  }
  return cached === undefined ? places : cached.subarray(0, count);
}

/** Finds those of some places whose outputs are at addresses (numbers within the account); no number stands for all. */
export function* placesOfAddresses(
  { wallet }: CandidateParts,
  places: Uint32Array,
  minors: readonly number[],
): Generator<void, Uint32Array> {
  const { outputs } = wallet.state;
  if (minors.length === 0) return places;
  const minorSet = new Set(minors);
  return yield* placesWhere(places, (place) => minorSet.has(outputs.minorOf(place)));
}

/** Finds those of some places whose outputs are worth more than the fee for spending them. */
export function* usablePlaces(
  { wallet, feeRate }: CandidateParts,
  places: Uint32Array,
): Generator<void, Uint32Array> {
  const { outputs } = wallet.state;
  const least = fractionalThreshold(feeRate);
  if (!wallet.preferences.ignoresFractional || Number(least) < outputs.leastAmount) return places;
  return yield* placesWhere(places, isAtLeast(outputs, least));
}

/** Whether the output at a place is worth an amount (atomic units) or more. */
function isAtLeast(outputs: OutputBook, amount: bigint): (place: number) => boolean {
  const near = Number(amount);
  return (place) => {
    const number = outputs.amountNumberOf(place);
    return number === near ? outputs.amountOf(place) >= amount : number > near;
  };
}

/** Whether few other outputs have its amount: it dates from before amounts were split into digits. */
export const isDust = ({ rct, amount }: Pick<OwnedOutput, "rct" | "amount">): boolean =>
  !rct && isRareAmount(amount);

/** From what a payment is made: an account, and numbers of its addresses, none for all. */
type Payer = { readonly account: number; readonly minors: readonly number[] };

/** What the wallet's preferences and the fee rate leave of an account's outputs, by kind. */
function filtersOf({ wallet, feeRate }: CandidateParts) {
  const { leastAmount, greatestAmount, ignoresFractional } = wallet.preferences;
  const question = wallet.spendableNow;
  const paysItself = ignoresFractional ? fractionalThreshold(feeRate) : 0n;
  const common = {
    question,
    leastAmount: leastAmount > paysItself ? leastAmount : paysItself,
    greatestAmount,
  };
  return {
    hidden: { kind: "hidden", question, leastAmount, greatestAmount },
    clear: { kind: "clear", ...common },
    dust: { kind: "dust", ...common },
  } as const satisfies Record<string, FreeFilter>;
}

/** The outputs by address; the address with most unlocked money comes first. */
class RichestFirst implements OutputGroups {
  readonly #outputs: OutputBook;
  readonly #payer: Payer;
  readonly #minors: ReadonlySet<number>;
  readonly #filter: FreeFilter;
  readonly #addresses: AccountBalance["addresses"];

  constructor(
    outputs: OutputBook,
    { payer, filter, addresses }: { payer: Payer; filter: FreeFilter } & Pick<AccountBalance, "addresses">,
  ) {
    this.#outputs = outputs;
    this.#payer = payer;
    this.#minors = new Set(payer.minors);
    this.#filter = filter;
    this.#addresses = addresses;
  }

  of(minor: number): OutputGroup | undefined {
    return this.#outputs.sumsOf(this.#payer.account).has(minor) ? this.#groupOf(minor) : undefined;
  }

  *[Symbol.iterator](): Generator<OutputGroup> {
    const unlocked = new Map(this.#addresses.map((each) => [each.minor, each.unlocked]));
    const richest = Array.from(this.#outputs.sumsOf(this.#payer.account).keys(), (minor) => ({
      minor,
      money: unlocked.get(minor) ?? 0n,
    }));
    if (richest.length === 0) return;
    // Most payments need no other.
    yield this.#groupOf(richest.reduce((most, each) => (each.money > most.money ? each : most)).minor);
    richest.sort((a, b) => (a.money === b.money ? 0 : a.money < b.money ? 1 : -1));
    for (const { minor } of richest.slice(1)) yield this.#groupOf(minor);
  }

  #groupOf(minor: number): OutputGroup {
    return { minor, find: () => poolOfParts(this.#outputs, this.#partsOf(minor)) };
  }

  #partsOf(minor: number) {
    const { account } = this.#payer;
    if (this.#minors.size > 0 && !this.#minors.has(minor)) return [];
    return this.#outputs.freeOfAddress({ major: account, minor }, this.#filter);
  }
}

const NO_GROUPS: OutputGroups = { of: () => undefined, *[Symbol.iterator]() {} };

/** Finds whether an account, or one of some of its addresses, has an output that matches. Pauses in between. */
function* hasAny(
  outputs: OutputBook,
  { account, minors }: Payer,
  filter: FreeFilter,
): Generator<void, boolean> {
  if (minors.length === 0) return outputs.freeOfAccount(account, filter).length > 0;
  for (const minor of minors) {
    if (outputs.freeOfAddress({ major: account, minor }, filter).length > 0) return true;
    yield;
  }
  return false;
}

/** Finds those of some addresses of an account that have received anything, each once. Pauses in between. */
function* receiversAmong(outputs: OutputBook, { account, minors }: Payer): Generator<void, number[]> {
  const sums = outputs.sumsOf(account);
  const receivers = new Set<number>();
  for (const minor of minors) {
    if (sums.has(minor)) receivers.add(minor);
    yield;
  }
  return [...receivers];
}

type Pools = Pick<PaymentRequest, "groups" | "dustGroups" | "preferable">;

/** Finds the outputs from which a payment is made; undefined if none is worth spending. Pauses in between. */
export function* poolsFor(
  parts: CandidateParts,
  asked: Payer,
  { addresses }: Pick<AccountBalance, "addresses">,
): Generator<void, Pools | undefined> {
  const { outputs } = parts.wallet.state;
  const { account } = asked;
  const minors = yield* receiversAmong(outputs, asked);
  // No address stands for all of them from here on.
  if (asked.minors.length > 0 && minors.length === 0) return undefined;
  const [payer, filters] = [{ account, minors }, filtersOf(parts)];
  const ofAccount =
    minors.length === 0 ? yield* outputs.findFreeOfAccount(account, filters.hidden) : undefined;
  const preferable: Preferable = preferableIn(outputs, { ...payer, ofAccount }, filters.hidden);
  const hasHidden = preferable.first(boundOf(filters.clear.leastAmount)) !== undefined;
  const hasDust = !outputs.isAllHidden && (yield* hasAny(outputs, payer, filters.dust));
  const hasClear = hasHidden || (!outputs.isAllHidden && (yield* hasAny(outputs, payer, filters.clear)));
  if (!hasClear && !hasDust) return undefined;
  const groupsOf = (filter: FreeFilter) => new RichestFirst(outputs, { payer, filter, addresses });
  return {
    groups: hasClear ? groupsOf(filters.clear) : NO_GROUPS,
    dustGroups: hasDust ? groupsOf(filters.dust) : NO_GROUPS,
    preferable,
  };
}
