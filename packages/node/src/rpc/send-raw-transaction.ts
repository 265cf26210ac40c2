import {
  checkSanity,
  RuleViolation,
  type SendTransactionFlag,
  sendTransactionFlags,
  verdictOf,
} from "@anulo/consensus";
import { BadBytes, readTransaction, toHex, transactionHash } from "@anulo/protocol";
import { admit } from "../pool/admit.ts";
import { isPublic } from "../pool/entry.ts";
import { release } from "../pool/maintain.ts";
import type { NodeContext } from "./context.ts";
import { bytesOfHex } from "./hex-params.ts";
import { matureOutputs } from "./mature-outputs.ts";

interface SendRequest {
  readonly tx_as_hex: string;
  readonly do_not_relay: boolean;
  readonly do_sanity_checks: boolean;
}

/** The reason's words for each flag. Source: core_rpc_server.cpp `on_send_raw_tx`. */
const wordsOf: { readonly [F in SendTransactionFlag]: string } = {
  low_mixin: "bad ring size",
  double_spend: "double spend",
  invalid_input: "invalid input",
  invalid_output: "invalid output",
  too_big: "too big",
  overspend: "overspend",
  fee_too_low: "fee too low",
  too_few_outputs: "too few outputs",
  tx_extra_too_big: "tx-extra too big",
  nonzero_unlock_time: "tx unlock time is not zero",
  not_rct: "not ringct",
  sanity_check_failed: "Sanity check failed",
};

/** The refusal a broken rule shows: its flags, and their words in the original's order. */
function refusalOf(flags: readonly SendTransactionFlag[]) {
  const listed = sendTransactionFlags.filter((flag) => flags.includes(flag));
  const reason = listed.filter((flag) => flag !== "not_rct").map((flag) => wordsOf[flag]);
  return {
    status: "Failed",
    reason: reason.join(", "),
    ...Object.fromEntries(listed.map((flag) => [flag, true])),
  };
}

/** Whether the rings look like a wallet's; bytes that are no transaction fail this too. */
function isSane({ parts }: NodeContext, blob: Uint8Array): boolean {
  try {
    checkSanity(readTransaction(blob), BigInt(matureOutputs(parts.store.read, 0n)));
    return true;
  } catch (error) {
    if (error instanceof RuleViolation || error instanceof BadBytes) return false;
    throw error;
  }
}

/**
 * Whether a transaction that was sent before is still to be told to all: it counts as relayed however often it is
 * sent, and is relayed again unless it is on its way to another node already, behind which ours hides.
 * Source: cryptonote_core.cpp `add_new_tx`, which passes over those alone that are public or kept here.
 */
async function isStillRelayed({ parts }: NodeContext, blob: Uint8Array): Promise<boolean> {
  const entry = parts.pool.get(toHex(transactionHash(readTransaction(blob))));
  if (entry === undefined || entry.row.doNotRelay || isPublic(entry.row)) return false;
  if (entry.row.phase === "local") await release(parts, entry.key);
  return true;
}

/** Adds a transaction to the pool, or describes what is wrong with it. */
export async function sendRawTransaction(request: SendRequest, context: NodeContext) {
  const blob = bytesOfHex(request.tx_as_hex);
  if (blob === undefined) return { status: "Failed" };
  if (request.do_sanity_checks && !isSane(context, blob)) return refusalOf(["sanity_check_failed"]);
  try {
    const { parts, restricted: isRestricted } = context;
    const proofs = parts.proofs.chargedTo(context.onWork);
    const submission = { blob, doNotRelay: request.do_not_relay, isRestricted };
    const outcome = await admit({ ...parts, proofs }, submission);
    const isRelayed = !request.do_not_relay && (outcome === "added" || (await isStillRelayed(context, blob)));
    return isRelayed ? {} : { reason: "Not relayed", not_relayed: true };
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    const refusal = refusalOf(verdictOf[error.violation.code].rpcFlags);
    // The original words the reason and then forgets to send it.
    return context.dialect === "upstream" ? { ...refusal, reason: "" } : refusal;
  }
}
