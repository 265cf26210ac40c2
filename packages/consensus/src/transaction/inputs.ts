import {
  compareBytes,
  forkRules,
  type KeyInput,
  MAX_AMOUNT,
  sumAmounts,
  type Transaction,
  toHex,
} from "@anulo/protocol";
import { RuleViolation } from "../violations.ts";

/** There must be inputs, and all must spend outputs by key. Source: cryptonote_core.cpp `check_tx_semantic`. */
export function checkInputTypes({ prefix }: Transaction): void {
  if (prefix.inputs.length === 0) throw new RuleViolation({ code: "NO_INPUTS" });
  const input = prefix.inputs.findIndex(({ type }) => type !== "key");
  if (input !== -1) throw new RuleViolation({ code: "INPUT_TYPE", input });
}

/**
 * Neither the inputs' nor the outputs' visible amounts may sum to more than 64 bits. Source:
 * cryptonote_format_utils.cpp `check_money_overflow`.
 */
export function checkAmountOverflow(inputs: readonly KeyInput[], { prefix }: Transaction): void {
  if (sumAmounts(inputs) > MAX_AMOUNT || sumAmounts(prefix.outputs) > MAX_AMOUNT) {
    throw new RuleViolation({ code: "AMOUNT_OVERFLOW" });
  }
}

/** A version 1 transaction must spend more than it pays: the rest is its fee. */
export function checkVisibleBalance(inputs: readonly KeyInput[], { prefix }: Transaction): void {
  if (prefix.version !== 1) return;
  const spent = sumAmounts(inputs);
  const paid = sumAmounts(prefix.outputs);
  if (spent <= paid) throw new RuleViolation({ code: "AMOUNTS_NOT_POSITIVE", spent, paid });
}

/** A transaction must not contain a key image twice. Source: cryptonote_core.cpp `check_tx_inputs_keyimages_diff`. */
export function checkKeyImagesDiffer(inputs: readonly KeyInput[]): void {
  const keyImages = new Set<string>();
  for (const [input, { keyImage }] of inputs.entries()) {
    const hex = toHex(keyImage);
    if (keyImages.has(hex)) throw new RuleViolation({ code: "KEY_IMAGE_REPEATED", input });
    keyImages.add(hex);
  }
}

/**
 * From hard fork 6 a ring must not refer to an output twice in a row: its relative offset would be 0. Source:
 * cryptonote_core.cpp `check_tx_inputs_ring_members_diff`.
 */
export function checkRingMembersDiffer(inputs: readonly KeyInput[], version: number): void {
  if (!forkRules(version).hasDistinctMembers) return;
  const input = inputs.findIndex(({ keyOffsets }) => keyOffsets.indexOf(0n, 1) !== -1);
  if (input !== -1) throw new RuleViolation({ code: "RING_MEMBER_REPEATED", input });
}

/** From hard fork 7 key images must strictly descend. Source: blockchain.cpp `check_tx_inputs`. */
export function checkInputOrder(inputs: readonly KeyInput[], version: number): void {
  if (!forkRules(version).hasSortedInputs) return;
  const input = inputs.findIndex(
    ({ keyImage }, i) => i > 0 && compareBytes(inputs[i - 1]!.keyImage, keyImage) <= 0,
  );
  if (input !== -1) throw new RuleViolation({ code: "INPUTS_NOT_SORTED", input });
}
