/** Answers of reading calls, kept until the state they show changes. */
import { type Lasting, lasting } from "@anulo/rpc";
import type { Question } from "../cached-facts.ts";
import type { Wallet } from "../wallet.ts";

/** The answer of `name` to `params`, with its text; recomputed only when the wallet has changed. */
export function remembered<T extends object>(
  { facts }: Pick<Wallet, "facts">,
  question: Question,
  answer: () => T,
): Lasting<T> {
  return lasting(facts.of(question, answer), {}) as Lasting<T>;
}

/** As `remembered`, for an answer that is made in turns: all who ask meanwhile get the one under way. */
export async function rememberedPatiently<T extends object>(
  { facts }: Pick<Wallet, "facts">,
  question: Question,
  answer: () => Promise<T>,
): Promise<Lasting<T>> {
  const asked = facts.of(question, answer);
  try {
    return lasting(await asked, {}) as Lasting<T>;
  } catch (error) {
    facts.clear();
    throw error;
  }
}
