import { setImmediate } from "node:timers/promises";
import { RuleViolation, verdictOf } from "@anulo/consensus";
import type { RandomSource } from "@anulo/crypto";
import { PeerFault } from "@anulo/p2p";
import { readTransaction, toHex, transactionHash } from "@anulo/protocol";
import type { ChainParts } from "../chain/parts.ts";
import { admit, type Submission } from "../pool/admit.ts";
import type { PoolEntry } from "../pool/pool.ts";
import { poisson } from "./chance.ts";
import type { PeerLink } from "./link.ts";
import type { PayloadOf } from "./messages.ts";
import type { TransactionRelay } from "./transaction-relay.ts";

export interface NewTransactionsOptions {
  readonly parts: ChainParts;
  readonly relay: TransactionRelay;
  readonly random: RandomSource;
}

/** Milliseconds of work between two turns of the event loop. */
const TURN_MS = 15;
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
async function take(parts: ChainParts, submission: Submission): Promise<PoolEntry | undefined> {
  try {
    const outcome = await admit(parts, submission);
    if (outcome === "known") return undefined;
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    const { peer } = verdictOf[error.violation.code];
    if (peer !== "keep") throw new PeerFault(error.message);
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
export async function takeTransactions(
  options: NewTransactionsOptions,
  link: PeerLink,
  { txs, dandelionpp_fluff }: PayloadOf<"newTransactions">,
): Promise<void> {
  const submission = submissionOf(options, link, dandelionpp_fluff);
  const fresh: PoolEntry[] = [];
  let start = performance.now();
  try {
    for (const blob of txs) {
      // What is known already, or proven, is judged without waiting for anything.
      if (performance.now() - start > TURN_MS) {
        await setImmediate();
        start = performance.now();
      }
      const entry = await take(options.parts, { blob, ...submission });
      if (entry !== undefined) fresh.push(entry);
    }
  } finally {
    options.relay.tell(fresh, link);
  }
}
