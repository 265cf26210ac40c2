import { chainContext, readmitTransaction } from "@anulo/consensus";
import type { ChainWriter } from "@anulo/storage";
import { candidateOf } from "./candidate.ts";
import type { PoolChangeParts } from "./parts.ts";

/**
 * Drops the transactions that the hard fork of the next block forbids, if it has changed, one by one inside the
 * caller's write transaction; `before` is the version that was in force. Source: tx_pool.cpp `validate`.
 */
export function* followFork(
  { pool, setAside, state, now }: PoolChangeParts,
  writer: ChainWriter,
  before: number,
): Generator<void, void> {
  const view = state.view();
  if (view.hardForkVersion === before) return;
  const context = chainContext(view, now());
  for (const entry of pool.entries()) {
    yield;
    const { keptByBlock } = entry.row;
    const candidate = candidateOf(entry);
    if (readmitTransaction(candidate, context, { keptByBlock }).refusal === undefined) continue;
    if (keptByBlock) setAside.add(candidate);
    pool.remove(writer, entry.key);
  }
}
