import { toHex } from "@anulo/protocol";
import type { Logger } from "@anulo/rpc";
import type { Events } from "./chain/events.ts";
import type { OpenChain } from "./chain/open-chain.ts";

/** Logs what was found when the chain was opened, and every event from then on. */
export function logChain(chain: OpenChain, log: Logger): void {
  logEvents(chain.events, log);
  logRecovery(chain, log);
}

/** Logs that the end of the chain was lost in a power failure. */
function logRecovery({ parts }: OpenChain, log: Logger): void {
  const { recovery, read } = parts.store;
  if (recovery?.rolledBack === true) {
    log.warn("power was lost: the chain is as it was last flushed", { height: read.height() });
  }
}

function logEvents(events: Events, log: Logger): void {
  events.listen(({ type, ...facts }) => {
    const id = "id" in facts && { id: toHex(facts.id) };
    const ids = "ids" in facts && { ids: facts.ids.map(toHex) };
    const fields = { ...facts, ...id, ...ids };
    if (type === "reorganised") log.warn("chain reorganised", fields);
    else log.debug(wordsOf[type], fields);
  });
}

const wordsOf = {
  blockAdded: "block added",
  alternativeBlock: "block kept beside the chain",
  blocksPopped: "blocks popped",
  transactionAdded: "transaction added to the pool",
  transactionReleased: "transaction to be told to peers",
  transactionsPublic: "transactions everybody may know of",
} as const;
