/** Walks over a wallet's outputs in which other work runs: the outputs may move meanwhile. */
import type { OutputBook } from "./output-book.ts";
import type { SpendableQuestion } from "./output-page.ts";
import type { OwnedOutput } from "./owned-output.ts";

/** Outputs of one step of a walk: a few milliseconds, and what a thread does in some 20. */
const OUTPUTS_A_STEP = 64;

/** A place has another output than when the walk began, or none any more. */
export class OutputsMoved extends Error {
  override name = "OutputsMoved";
}

/** Repeats a walk in which outputs have moved; that takes a reorganisation, so they come to rest. */
export async function retryWhenMoved<T>(walk: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await walk();
    } catch (error) {
      if (!(error instanceof OutputsMoved)) throw error;
    }
  }
}

/** A check for outputs that have moved since this call; it throws `OutputsMoved`. */
export function createMoveCheck(outputs: Pick<OutputBook, "version">): () => void {
  const { version } = outputs;
  return () => {
    if (outputs.version !== version) throw new OutputsMoved();
  };
}

/** The outputs at some places, some at a time, read when they are asked for. Throws `OutputsMoved`. */
export function* outputsAt(
  outputs: OutputBook,
  places: ArrayLike<number>,
): Generator<readonly OwnedOutput[], void> {
  const check = createMoveCheck(outputs);
  for (let from = 0; from < places.length; from += OUTPUTS_A_STEP) {
    check();
    const to = Math.min(places.length, from + OUTPUTS_A_STEP);
    yield Array.from({ length: to - from }, (_, i) => outputs.at(places[from + i]!)!);
  }
}

/** The same of all places from one to before another. */
export function* outputsFrom(
  outputs: OutputBook,
  from: number,
  to: number,
): Generator<readonly OwnedOutput[], void> {
  const check = createMoveCheck(outputs);
  for (let place = from; place < to; place += OUTPUTS_A_STEP) {
    check();
    yield outputs.slice(place, Math.min(to, place + OUTPUTS_A_STEP));
  }
}

/** The places of an account's outputs that may be spent, as `OutputBook.spendable` finds them. Throws `OutputsMoved`. */
export function* spendablePlaces(
  outputs: OutputBook,
  account: number,
  question: SpendableQuestion,
): Generator<void, Uint32Array> {
  const check = createMoveCheck(outputs);
  const steps = outputs.spendable(account, question);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    yield;
    check();
  }
}
