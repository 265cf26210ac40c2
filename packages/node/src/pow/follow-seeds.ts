import { powVariantOf, SEED_SCHEDULE, seedHeight } from "@anulo/consensus";
import type { Events } from "../chain/events.ts";
import type { ChainParts } from "../chain/parts.ts";
import type { Pow } from "./pow.ts";

/**
 * Number of blocks before a change of the seed at which the next cache is made: it takes 256 MiB until the change is
 * over.
 */
const LEAD_BLOCKS = 32;

/** Sends the hashing process the seed that the chain uses, and the next one, until the returned function is called. */
export function followSeeds(pow: Pow, { state }: ChainParts, events: Events): () => void {
  let sent = "";
  return events.listen(({ type }) => {
    if (type === "transactionAdded" || type === "transactionsPublic" || type === "alternativeBlock") return;
    const view = state.view();
    if (powVariantOf(view.hardForkVersion) !== "randomx") return;
    const schedule = view.seedSchedule ?? SEED_SCHEDULE;
    const at = seedHeight(view.height, schedule);
    const next = seedHeight(view.height + Math.min(LEAD_BLOCKS, schedule.lagBlocks), schedule);
    if (sent === `${at} ${next}`) return;
    sent = `${at} ${next}`;
    pow.useSeeds(view.blockId(at), next === at ? undefined : view.blockId(next));
  });
}
