/** Which outputs a payment may spend: places of the wallet's book, found in steps without making an output. */
import { isDecomposedAmount, MAX_AMOUNT } from "@anulo/protocol";
import type { AccountBalance } from "../history/balance.ts";
import type { OutputBook } from "../outputs/output-book.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import type { Preferences } from "../preferences.ts";
import { ByAddress } from "./by-address.ts";
import { poolOfPlaces, whileUnchanged } from "./output-pool.ts";
import { fractionalThreshold } from "./plan.ts";
import type { OutputGroup, PaymentRequest } from "./plan-payment.ts";
import type { FeeRate } from "./stages.ts";

/** The wallet that pays, and the rate of the fee for the requested priority. */
export type CandidateParts = {
  readonly wallet: {
    readonly preferences: Preferences;
    readonly state: { readonly outputs: OutputBook };
    /** Finds the places of the outputs that can be spent; pauses in between. */
    readonly spendablePlaces: (account: number) => Generator<void, Uint32Array>;
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
  !rct && !isDecomposedAmount(amount);

const isDustAt = (outputs: OutputBook, place: number): boolean =>
  !outputs.isHidden(place) && isDust({ rct: false, amount: outputs.amountOf(place) });

/** Finds those of some places whose amounts payments may spend. */
function* preferredPlaces({ wallet }: CandidateParts, places: Uint32Array): Generator<void, Uint32Array> {
  const { leastAmount, greatestAmount } = wallet.preferences;
  const { outputs } = wallet.state;
  if (leastAmount === 0n && greatestAmount >= MAX_AMOUNT) return places;
  return yield* placesWhere(places, (place) => {
    const amount = outputs.amountOf(place);
    return amount >= leastAmount && amount <= greatestAmount;
  });
}

/** The places by address; the address with most unlocked money comes first. */
function richestFirst(
  outputs: OutputBook,
  places: Uint32Array,
  { account, addresses }: { readonly account: number } & Pick<AccountBalance, "addresses">,
): OutputGroup[] {
  if (places.length === 0) return [];
  const byAddress = new ByAddress(places.length, (i) => outputs.minorOf(places[i]!));
  const unlocked = new Map(addresses.map((each) => [each.minor, each.unlocked]));
  const moneyOf = (minor: number) => unlocked.get(minor) ?? 0n;
  return [...outputs.sumsOf(account).keys()]
    .sort((a, b) => (moneyOf(a) === moneyOf(b) ? 0 : moneyOf(a) < moneyOf(b) ? 1 : -1))
    .map((minor) => ({
      minor,
      *find() {
        const indices = yield* whileUnchanged(outputs, byAddress.indicesOf(minor));
        const chosenPlaces = indices.map((i) => places[i]!);
        return poolOfPlaces(outputs, chosenPlaces);
      },
    }));
}

/** Finds the outputs from which a payment is made; undefined if none is worth spending. Pauses in between. */
export function* poolsFor(
  parts: CandidateParts,
  { account, minors }: { readonly account: number; readonly minors: readonly number[] },
  balance: AccountBalance,
): Generator<void, Pick<PaymentRequest, "groups" | "dustGroups" | "preferable"> | undefined> {
  const { outputs } = parts.wallet.state;
  const unlocked = yield* parts.wallet.spendablePlaces(account);
  const spendable = yield* preferredPlaces(parts, yield* placesOfAddresses(parts, unlocked, minors));
  const usable = yield* usablePlaces(parts, spendable);
  if (usable.length === 0) return undefined;
  const hidden = outputs.isAllHidden
    ? spendable
    : yield* placesWhere(spendable, (place) => outputs.isHidden(place));
  const isAllHidden = hidden === spendable;
  const clear = isAllHidden ? usable : yield* placesWhere(usable, (place) => !isDustAt(outputs, place));
  const dust = isAllHidden
    ? new Uint32Array(0)
    : yield* placesWhere(usable, (place) => isDustAt(outputs, place));
  const order = { account, addresses: balance.addresses };
  return {
    groups: richestFirst(outputs, clear, order),
    dustGroups: richestFirst(outputs, dust, order),
    preferable: poolOfPlaces(outputs, hidden),
  };
}
