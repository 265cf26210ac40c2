import { powVariantOf, SEED_SCHEDULE, seedHeight } from "@anulo/consensus";
import type { Events } from "../chain/events.ts";
import type { ChainParts } from "../chain/parts.ts";
import type { Pow } from "./pow.ts";

/** Blocks before the seed changes at which the next cache is made: it costs 256 MiB until the change is over. */
const LEAD_BLOCKS = 32;

/** Tells the hashing process which seed the chain uses, and which comes next, until the function it gives is called. */
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
