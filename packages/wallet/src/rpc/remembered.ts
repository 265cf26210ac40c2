/** Answers of reading calls, kept until the state they show changes. */
import { type Lasting, lasting } from "@anulo/rpc";
import type { Wallet } from "../wallet.ts";

/** Answers kept of one wallet: some callers ask for several again and again. A long one takes megabytes. */
const MOST_ANSWERS = 8;
/** Questions longer than this are not asked twice. */
const MOST_LETTERS = 1000;

type Question = {
  readonly name: string;
  readonly params: object;
  /** All that the answer is made of, where that is looked through sooner than the answer is made. */
  readonly basis?: () => readonly unknown[];
};

type Remembered = {
  /** When it was last known to be true. */
  moment: object;
  readonly basis: readonly unknown[] | undefined;
  readonly facts: object;
};

const memories = new WeakMap<Wallet, Map<string, Remembered>>();

/** The answers that may still be true: those of this moment, and those whose basis can be looked at. */
function answersOf(wallet: Wallet): Map<string, Remembered> {
  const { moment } = wallet;
  const answers = memories.get(wallet) ?? new Map<string, Remembered>();
  memories.set(wallet, answers);
  for (const [key, known] of answers) {
    if (known.moment !== moment && known.basis === undefined) answers.delete(key);
  }
  return answers;
}

/** What `make` makes: the same object as before while the state it shows has not changed. */
export function factsOf<T extends object>(wallet: Wallet, question: Question, make: () => T): T {
  const key = question.name + JSON.stringify(question.params);
  if (key.length > MOST_LETTERS) return make();
  const answers = answersOf(wallet);
  const { moment } = wallet;
  const known = answers.get(key);
  if (known?.moment === moment) return known.facts as T;
  const basis = question.basis?.();
  if (known?.basis !== undefined && basis !== undefined && isSame(known.basis, basis)) {
    known.moment = moment;
    return known.facts as T;
  }
  const facts = make();
  answers.delete(key);
  for (const oldest of answers.keys()) {
    if (answers.size < MOST_ANSWERS) break;
    answers.delete(oldest);
  }
  answers.set(key, { moment, basis, facts });
  return facts;
}

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

/** The answer of `name` to `params`, with its text; recomputed only when the wallet has changed. */
export function remembered<T extends object>(
  wallet: Wallet,
  question: Question,
  answer: () => T,
): Lasting<T> {
  return lasting(factsOf(wallet, question, answer), {}) as Lasting<T>;
}

/** As `remembered`, for an answer that is made in turns: all who ask meanwhile get the one under way. */
export async function rememberedPatiently<T extends object>(
  wallet: Wallet,
  question: Question,
  answer: () => Promise<T>,
): Promise<Lasting<T>> {
  const asked = factsOf(wallet, question, answer);
  try {
    return lasting(await asked, {}) as Lasting<T>;
  } catch (error) {
    memories.delete(wallet);
    throw error;
  }
}
