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
import type { PeerLink } from "./link.ts";
import type { PayloadOf } from "./messages.ts";
import type { TransactionRelay } from "./transaction-relay.ts";

export interface NewTransactionsOptions {
  readonly parts: ChainParts;
  readonly relay: TransactionRelay;
  readonly random: RandomSource;
}

/** Seconds a transaction from an anonymity network is kept back on average. Source: cryptonote_config.h. */
const FORWARD_SECONDS = 22;

/** How a transaction comes in from this peer. */
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

/** Takes one transaction; the pool's entry when it is to be told on. Throws PeerFault where nobody honest sends it. */
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
    // An honest peer may have taken another of two double spends, but not one after another.
    if (!link.refusals.add(parts.now())) throw new PeerFault(`too often ${error.message}`, { score: 1 });
    return undefined;
  }
  const key = toHex(transactionHash(readTransaction(submission.blob)));
  const entry = parts.pool.get(key);
  return entry?.row.phase === "forward" ? undefined : entry;
}

/**
 * Takes the transactions a peer sends, and tells of those that are new. Throws PeerFault.
 * Source: cryptonote_protocol_handler.inl `handle_notify_new_transactions`.
 */
export async function handleTransactions(
  options: NewTransactionsOptions,
  link: PeerLink,
  { txs, dandelionpp_fluff }: PayloadOf<"newTransactions">,
): Promise<void> {
  const submission = submissionOf(options, link, dandelionpp_fluff);
  const fresh: PoolEntry[] = [];
  const slice = new TimeSlice(link.peer.slicing);
  try {
    for (const blob of txs) {
      // What is known already, or refused, is judged without waiting for anything.
      if (slice.isOver) await slice.yield();
      // The pool keeps a copy: it would hold the whole message otherwise.
      const entry = await slice.wait(admitOne(options, link, { blob: new Uint8Array(blob), ...submission }));
      if (entry !== undefined) fresh.push(entry);
    }
  } finally {
    options.relay.relay(fresh, link);
    slice.end();
  }
}
