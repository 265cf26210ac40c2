/** What a keys file says the owner prefers, of all its settings those a wallet service obeys. */
import { MAX_AMOUNT } from "@anulo/protocol";
import type { Json } from "@anulo/rpc";

/** Amounts in atomic units. */
export type Preferences = {
  /** Payments spend no output worth more or less; sweeps spend all. */
  readonly leastAmount: bigint;
  readonly greatestAmount: bigint;
  /** Outputs worth less than the fee for spending them are not spent. */
  readonly ignoresFractional: boolean;
  /** A second input that isn't needed is left alone when it is worth `keptValue`, and fewer such outputs remain. */
  readonly keptValue: bigint;
  readonly keptCount: bigint;
  /** What one address gets in one transaction is one output. */
  readonly mergesDestinations: boolean;
  /** Keys, destinations and payment ids of transactions made are kept. */
  readonly keepsTxInfo: boolean;
  /** A payment that names no priority gets the one that pool and blocks call for. */
  readonly choosesPriority: boolean;
  /** Rewards of blocks are not looked at. */
  readonly skipsCoinbase: boolean;
  /** A wallet that several signers share pays and signs. */
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

/** Reads the settings of a keys file; what is missing or of another type is as usual. Source: wallet2.cpp `load_keys_buf`. */
export function preferencesOf(settings: ReadonlyMap<string, Json>): Preferences {
  const number = (name: string, usual: bigint) => integer(settings.get(name), usual);
  const flag = (name: string, usual: boolean) => number(name, usual ? 1n : 0n) !== 0n;
  const kept = { keptValue: number("min_output_value", 0n), keptCount: number("min_output_count", 0n) };
  return {
    leastAmount: number("ignore_outputs_below", DEFAULT_PREFERENCES.leastAmount),
    greatestAmount: number("ignore_outputs_above", DEFAULT_PREFERENCES.greatestAmount),
    ignoresFractional: flag("ignore_fractional_outputs", true),
    ...(kept.keptValue === 0n && kept.keptCount === 0n ? usuallyKept : kept),
    mergesDestinations: flag("merge_destinations", false),
    keepsTxInfo: flag(settings.has("store_tx_info") ? "store_tx_info" : "store_tx_keys", true),
    choosesPriority: number("default_priority", 0n) === 0n && flag("auto_low_priority", true),
    skipsCoinbase: number("refresh_type", 1n) === NO_COINBASE,
    allowsMultisig: flag("enable_multisig", false),
  };
}
