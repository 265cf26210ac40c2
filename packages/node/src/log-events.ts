import { toHex } from "@anulo/protocol";
import type { Logger } from "@anulo/rpc";
import type { Events } from "./chain/events.ts";
import type { OpenChain } from "./chain/open-chain.ts";

/** Reports what opening the chain found, and every event from now on. */
export function logChain(chain: OpenChain, log: Logger): void {
  logEvents(chain.events, log);
  logRecovery(chain, log);
}

/** Says that the end of the chain was lost with the power. */
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
