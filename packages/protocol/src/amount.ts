/** Decimal places of the coin: 1 XMR is 10^12 atomic units (piconero). */
export const COIN_DECIMALS = 12;
export const ATOMIC_UNITS_PER_COIN: bigint = 10n ** BigInt(COIN_DECIMALS);
/** Amounts are unsigned and of 64 bits. */
export const MAX_AMOUNT: bigint = 2n ** 64n - 1n;

/** Sum of the amounts (atomic units) of inputs, outputs or destinations. */
export function sumAmounts(items: readonly { readonly amount: bigint }[]): bigint {
  return items.reduce((sum, { amount }) => sum + amount, 0n);
}

/** Text that is not an amount of coins. */
export class BadAmount extends Error {
  override name = "BadAmount";
}

/** Formats atomic units as coins with all twelve decimals: 1500000000000 is "1.500000000000". Source: `print_money`. */
export function formatAmount(atomicUnits: bigint): string {
  const digits = atomicUnits.toString().padStart(COIN_DECIMALS + 1, "0");
  return `${digits.slice(0, -COIN_DECIMALS)}.${digits.slice(-COIN_DECIMALS)}`;
}

/**
 * Parses coins, as in "1.5", ".5" or "2.", to atomic units; zeros past the twelfth decimal are ignored. Throws
 * `BadAmount`. Source: cryptonote_format_utils.cpp `parse_amount`.
 */
export function parseAmount(text: string): bigint {
  const match = /^(\d*)(?:\.(\d*))?$/.exec(text.trim());
  if (match === null) throw new BadAmount("not an amount of coins");
  const [, whole = "", decimals = ""] = match;
  if (whole === "" && decimals === "") throw new BadAmount("an amount has digits");
  const fraction = decimals.slice(0, COIN_DECIMALS);
  if (/[^0]/.test(decimals.slice(COIN_DECIMALS))) throw new BadAmount(`more than ${COIN_DECIMALS} decimals`);
  const amount = BigInt(whole + fraction.padEnd(COIN_DECIMALS, "0"));
  if (amount > MAX_AMOUNT) throw new BadAmount("amount too large");
  return amount;
}

/** Rounds up to this many significant decimal digits. Source: cryptonote_format_utils.cpp `round_money_up`. */
export function roundAmountUp(amount: bigint, significantDigits: number): bigint {
  const superfluous = amount.toString().length - significantDigits;
  if (superfluous <= 0) return amount;
  const unit = 10n ** BigInt(superfluous);
  return ((amount + unit - 1n) / unit) * unit;
}

/**
 * True for an amount (atomic units) of one digit and zeros, as outputs had before RingCT: 1 to 9 times a
 * power of ten, up to 10^19. Source: cryptonote_format_utils.cpp `is_valid_decomposed_amount`.
 */
export function isDecomposedAmount(amount: bigint): boolean {
  return amount < 2n ** 64n && /^[1-9]0*$/.test(amount.toString());
}

/** The nonzero digits of an amount, each times its power of ten, smallest first. */
export function digitsOfAmount(amount: bigint): bigint[] {
  const digits = [...amount.toString()].reverse();
  return digits.map((digit, i) => BigInt(digit) * 10n ** BigInt(i)).filter((part) => part > 0n);
}
