/** Cached responses of reading calls, valid until the state they show changes. */
import { type Lasting, lasting } from "@anulo/rpc";
import type { Question } from "../cached-facts.ts";
import type { Wallet } from "../wallet.ts";

/** The response of `name` to `params`, with its text; computed again only when the wallet has changed. */
export function cachedAnswer<T extends object>(
  { facts }: Pick<Wallet, "facts">,
  question: Question,
  answer: () => T,
): Lasting<T> {
  return lasting(facts.of(question, answer), {}) as Lasting<T>;
}

/** As `remembered`, for a response that is computed in turns: concurrent callers share one computation. */
export async function rememberedPatiently<T extends object>(
  { facts }: Pick<Wallet, "facts">,
  question: Question,
  answer: () => Promise<T>,
): Promise<Lasting<T>> {
  const response = facts.of(question, answer);
  try {
    return lasting(await response, {}) as Lasting<T>;
  } catch (error) {
    facts.clear();
    throw error;
  }
}
