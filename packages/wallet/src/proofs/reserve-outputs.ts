/**
 * Chooses the outputs of a proof of funds, by their places and some at a time. Source: wallet2.cpp `get_reserve_proof`.
 */
import { forEachSliced, runSliced } from "@anulo/limits";
import type { OutputBook } from "../outputs/output-book.ts";
import { createMoveCheck } from "../outputs/walk.ts";

/** Outputs between two looks at the time. */
const OUTPUTS_A_STEP = 256;

/** Outputs that can be proven: those that no block spends and that are not frozen, of an account or of all. */
export type Reserve = {
  /** Places of those of them whose key images are known. */
  readonly provable: Uint32Array;
  /** Atomic units of all of them. */
  readonly total: bigint;
  /** Whether the wallet has any funds, whatever the account. */
  readonly hasFunds: boolean;
};

/** Finds them, in slices. Rejects with `OutputsMoved`. */
export async function reserveOf(outputs: OutputBook, account: number | undefined): Promise<Reserve> {
  return await runSliced(findReserve(outputs, account));
}

function* findReserve(outputs: OutputBook, account: number | undefined): Generator<void, Reserve> {
  const check = createMoveCheck(outputs);
  const { count } = outputs;
  const provable = new Uint32Array(count);
  let [length, total, hasFunds] = [0, 0n, false];
  for (let place = 0; place < count; place++) {
    if (place % OUTPUTS_A_STEP === OUTPUTS_A_STEP - 1) {
      yield;
      check();
    }
    const { spentHeight, frozen, amount, subaddress } = outputs.hotAt(place);
    if (spentHeight !== undefined || frozen) continue;
    hasFunds ||= amount > 0n;
    if (account !== undefined && subaddress.major !== account) continue;
    total += amount;
    if (outputs.hasKeyImage(place)) provable[length++] = place;
  }
  return { provable: provable.slice(0, length), total, hasFunds };
}

/** Returns the amount (atomic units) of the output at a place. */
export type AmountAt = (place: number) => bigint;

/**
 * Of the outputs at some places, in ascending order, the smallest that alone reaches the amount (atomic units), otherwise
 * the fewest of the largest outputs that together do, or all; in slices.
 */
export async function chooseReserve(
  places: Uint32Array,
  amountAt: AmountAt,
  amount: bigint,
): Promise<Uint32Array> {
  let enough: { place: number; amount: bigint } | undefined;
  await forEachSliced(places, (place) => {
    const own = amountAt(place);
    if (own >= amount && (enough === undefined || own <= enough.amount)) enough = { place, amount: own };
  });
  if (enough !== undefined) return Uint32Array.of(enough.place);
  return await runSliced(largestOf(places, amountAt, amount));
}

/** The first of the outputs from the largest down, those of one amount by their places, until they reach an amount. */
function* largestOf(places: Uint32Array, amountAt: AmountAt, amount: bigint): Generator<void, Uint32Array> {
  const heap = places.slice();
  const selectedPlaces = new Uint32Array(heap.length);
  let [count, total] = [0, 0n];
  for (let root = (heap.length >> 1) - 1; root >= 0; root--) {
    sink(heap, root, amountAt);
    yield;
  }
  for (let left = heap.length; left > 0 && total < amount; ) {
    const place = heap[0]!;
    selectedPlaces[count++] = place;
    total += amountAt(place);
    left -= 1;
    heap[0] = heap[left]!;
    sink(heap.subarray(0, left), 0, amountAt);
    yield;
  }
  return selectedPlaces.slice(0, count);
}

/** Moves an element of a heap down until none below it comes before it. */
function sink(heap: Uint32Array, from: number, amountAt: AmountAt): void {
  const isBefore = (a: number, b: number): boolean => {
    const [amountOfA, amountOfB] = [amountAt(a), amountAt(b)];
    return amountOfA > amountOfB || (amountOfA === amountOfB && a < b);
  };
  for (let at = from; ; ) {
    let first = at;
    for (const child of [2 * at + 1, 2 * at + 2])
      if (child < heap.length && isBefore(heap[child]!, heap[first]!)) first = child;
    if (first === at) return;
    [heap[at], heap[first]] = [heap[first]!, heap[at]!];
    at = first;
  }
}
