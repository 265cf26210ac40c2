/** The owner's preferences in a keys file: those of its settings that a wallet service obeys. */
import { MAX_AMOUNT } from "@anulo/protocol";
import type { Json } from "@anulo/rpc";

/** Amounts in atomic units. */
export type Preferences = {
  /** Payments spend no output worth more or less than these limits; sweeps spend all outputs. */
  readonly leastAmount: bigint;
  readonly greatestAmount: bigint;
  /** Outputs worth less than the fee for spending them are not spent. */
  readonly ignoresFractional: boolean;
  /**
   * A second input that isn't needed is not added if it is worth `keptValue` or more and fewer than `keptCount` such
   * outputs remain.
   */
  readonly keptValue: bigint;
  readonly keptCount: bigint;
  /** The amounts that one address receives in one transaction become one output. */
  readonly mergesDestinations: boolean;
  /** Keys, destinations and payment ids of created transactions are stored. */
  readonly keepsTxInfo: boolean;
  /** A payment without priority gets the one that suits the current pool and blocks. */
  readonly choosesPriority: boolean;
  /** Coinbase transactions are not scanned. */
  readonly skipsCoinbase: boolean;
  /** A multisig wallet may pay and sign. */
  readonly allowsMultisig: boolean;
};

/** Source: wallet2.cpp DEFAULT_MIN_OUTPUT_VALUE, DEFAULT_MIN_OUTPUT_COUNT. */
const usuallyKept = { keptValue: 2_000_000_000_000n, keptCount: 5n };

/** Source: wallet2.cpp, the constructor. */
export const DEFAULT_PREFERENCES: Preferences = {
  leastAmount: 0n,
  greatestAmount: MAX_AMOUNT,
  ignoresFractional: true,
  ...usuallyKept,
  mergesDestinations: false,
  keepsTxInfo: true,
  choosesPriority: true,
  skipsCoinbase: false,
  allowsMultisig: false,
};

/** Source: wallet2.h `RefreshNoCoinbase`. */
const NO_COINBASE = 2n;

function integer(value: Json | undefined, usual: bigint): bigint {
  if (typeof value === "bigint") return value;
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : usual;
}

/**
 * Reads the settings of a keys file; settings that are missing or of another type get their default. Source:
 * wallet2.cpp `load_keys_buf`.
 */
export function preferencesOf(settings: ReadonlyMap<string, Json>): Preferences {
  const number = (name: string, usual: bigint) => integer(settings.get(name), usual);
  const flag = (name: string, usual: boolean) => number(name, usual ? 1n : 0n) !== 0n;
  const keptOutputs = {
    keptValue: number("min_output_value", 0n),
    keptCount: number("min_output_count", 0n),
  };
  return {
    leastAmount: number("ignore_outputs_below", DEFAULT_PREFERENCES.leastAmount),
    greatestAmount: number("ignore_outputs_above", DEFAULT_PREFERENCES.greatestAmount),
    ignoresFractional: flag("ignore_fractional_outputs", true),
    ...(keptOutputs.keptValue === 0n && keptOutputs.keptCount === 0n ? usuallyKept : keptOutputs),
    mergesDestinations: flag("merge_destinations", false),
    keepsTxInfo: flag(settings.has("store_tx_info") ? "store_tx_info" : "store_tx_keys", true),
    choosesPriority: number("default_priority", 0n) === 0n && flag("auto_low_priority", true),
    skipsCoinbase: number("refresh_type", 1n) === NO_COINBASE,
    allowsMultisig: flag("enable_multisig", false),
  };
}
