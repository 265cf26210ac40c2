/** Texts that callers store in a wallet: for ever, and some of them once for each of many addresses or accounts. */
import { WalletRefusal } from "../refusal.ts";
import type { Wallet } from "../wallet.ts";

/** Characters of one text. A change of a label or an entry writes its row again, which has up to 64 of them. */
const MAX_CHARACTERS = 4096;
/** Characters of all copies of a text that one call stores. */
const MAX_CHARACTERS_OF_CALL = 16 * 1024 * 1024;

interface KeptText {
  readonly wallet: Pick<Wallet, "texts">;
  readonly what: string;
  readonly text: string;
  /** How often the text is stored. */
  readonly copies?: number;
}

/**
 * Has a text stored. Throws `WalletRefusal` for one that is too long to be stored so many times, or for which the wallet
 * has no room.
 */
export async function storeText<T>(
  { wallet, what, text, copies = 1 }: KeptText,
  store: () => Promise<T>,
): Promise<T> {
  if (text.length > MAX_CHARACTERS)
    throw new WalletRefusal("UNKNOWN_ERROR", `a ${what} has at most ${MAX_CHARACTERS} characters`);
  if (text.length * copies > MAX_CHARACTERS_OF_CALL)
    throw new WalletRefusal(
      "UNKNOWN_ERROR",
      `a ${what} of ${text.length} characters is too long to be stored ${copies} times at once`,
    );
  return await wallet.texts.during(text.length * copies, store);
}
