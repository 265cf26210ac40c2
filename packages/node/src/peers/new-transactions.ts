import { RuleViolation, verdictOf } from "@anulo/consensus";
import type { RandomSource } from "@anulo/crypto";
import { TimeSlice } from "@anulo/limits";
import { PeerFault } from "@anulo/p2p";
import { readTransaction, toHex, transactionHash } from "@anulo/protocol";
import type { ChainParts } from "../chain/parts.ts";
import { FailedProof } from "../chain/proofs.ts";
import { admitFromStranger, type Submission } from "../pool/admit.ts";
import type { PoolEntry } from "../pool/entry.ts";
import { poisson } from "./chance.ts";
import { chargedTo, type PeerLink } from "./link.ts";
import type { PayloadOf } from "./messages.ts";
import type { TransactionRelay } from "./transaction-relay.ts";

export interface NewTransactionsOptions {
  readonly parts: ChainParts;
  readonly relay: TransactionRelay;
  readonly random: RandomSource;
}

/**
 * Average number of seconds for which a transaction from an anonymity network is held back. Source:
 * cryptonote_config.h.
 */
const FORWARD_SECONDS = 22;

/** The submission parameters for a transaction from this peer. */
function submissionOf(
  { parts, random }: NewTransactionsOptions,
  { peer }: PeerLink,
  isFluff: boolean,
): Omit<Submission, "blob"> {
  const doNotRelay = false;
  if (isFluff) return { doNotRelay, phase: "fluff" };
  if (peer.zone === "public") return { doNotRelay, phase: "stem" };
  return { doNotRelay, phase: "forward", relayAt: parts.now() + poisson(FORWARD_SECONDS, random) };
}

/**
 * Adds one transaction to the pool; returns the pool's entry if it has to be relayed. Throws PeerFault if no honest
 * peer sends such a transaction.
 */
async function admitOne(
  { parts }: NewTransactionsOptions,
  link: PeerLink,
  submission: Submission,
): Promise<PoolEntry | undefined> {
  try {
    const outcome = await admitFromStranger(parts, submission);
    if (outcome === "known") return undefined;
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    const { peer } = verdictOf[error.violation.code];
    const isProof = error instanceof FailedProof;
    if (peer !== "keep") throw new PeerFault(error.message, isProof ? { score: 1 } : undefined);
    // An honest peer may have accepted the other one of two double spends, but not one after another.
    if (!link.refusals.add(parts.now())) throw new PeerFault(`too often ${error.message}`, { score: 1 });
    return undefined;
  }
  const key = toHex(transactionHash(readTransaction(submission.blob)));
  const entry = parts.pool.get(key);
  return entry?.row.phase === "forward" ? undefined : entry;
}

/**
 * Adds the transactions a peer sends to the pool, and relays the new ones. Throws PeerFault. Source:
 * cryptonote_protocol_handler.inl `handle_notify_new_transactions`.
 */
export async function handleTransactions(
  options: NewTransactionsOptions,
  link: PeerLink,
  { txs, dandelionpp_fluff }: PayloadOf<"newTransactions">,
): Promise<void> {
  const submission = submissionOf(options, link, dandelionpp_fluff);
  const fresh: PoolEntry[] = [];
  const charged = { ...options, parts: chargedTo(link, options.parts) };
  const { pause, turns } = link.peer.slicing;
  const slice = new TimeSlice(pause && { pause, turns });
  try {
    for (const blob of txs) {
      // Transactions that are known or refused already are handled without waiting.
      if (slice.isOver) await slice.yield();
      // The pool keeps a copy, since a view would keep the whole message in memory.
      const entry = await slice.wait(admitOne(charged, link, { blob: new Uint8Array(blob), ...submission }));
      if (entry !== undefined) fresh.push(entry);
    }
  } finally {
    options.relay.relay(fresh, link);
    slice.end();
  }
}
