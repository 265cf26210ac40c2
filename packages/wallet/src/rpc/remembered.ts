/** Answers of reading calls, kept while nothing they tell of has changed. */
import { type Lasting, lasting } from "@anulo/rpc";
import type { Wallet } from "../wallet.ts";

/** Answers kept of one wallet: some callers ask for several again and again. A long one takes megabytes. */
const MOST_ANSWERS = 8;
/** Questions longer than this are not asked twice. */
const MOST_LETTERS = 1000;

type Memory = { moment: object; readonly answers: Map<string, object> };
const memories = new WeakMap<Wallet, Memory>();

function answersOf(wallet: Wallet): Map<string, object> {
  const { moment } = wallet;
  const memory = memories.get(wallet) ?? { moment, answers: new Map() };
  memories.set(wallet, memory);
  if (memory.moment !== moment) memory.answers.clear();
  memory.moment = moment;
  return memory.answers;
}

/** The answer of `name` to `params`, and with it its text, made anew only when the wallet has changed. */
export function remembered<T extends object>(
  wallet: Wallet,
  question: { readonly name: string; readonly params: object },
  answer: () => T,
): Lasting<T> {
  const key = question.name + JSON.stringify(question.params);
  const answers = answersOf(wallet);
  const known = answers.get(key) as T | undefined;
  if (known !== undefined) return lasting(known, {}) as Lasting<T>;
  const facts = answer();
  if (key.length > MOST_LETTERS) return lasting(facts, {}) as Lasting<T>;
  for (const oldest of answers.keys()) {
    if (answers.size < MOST_ANSWERS) break;
    answers.delete(oldest);
  }
  answers.set(key, facts);
  return lasting(facts, {}) as Lasting<T>;
}
