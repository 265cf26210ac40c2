import type { ChainView } from "@anulo/consensus";
import type { ChainStore } from "@anulo/storage";
import type { Pool } from "../pool/pool.ts";
import type { Pow } from "../pow/pow.ts";
import type { NodeContext } from "./context.ts";
import type { FailingCallers } from "./failing-callers.ts";
import type { AnswerMemory } from "./memory.ts";

/** What such handlers are told of the chain's top. */
export type ChainTop = Pick<ChainView, "height" | "topId" | "hardForkVersion" | "recentTimestamps">;

/** What handlers are given that read little else than blocks of the chain: they run in other threads, too. */
export interface ChainCallContext
  extends Pick<NodeContext, "dialect" | "restricted" | "remoteAddress" | "signal" | "rows"> {
  readonly parts: {
    readonly store: Pick<ChainStore, "read" | "snapshot" | "prefetch">;
    readonly state: { view(): ChainTop };
    readonly pool: Pick<Pool, "get">;
    /** Unix seconds. */
    now(): number;
  };
  readonly pow: Pick<Pow, "hashOf">;
  readonly failingCallers: FailingCallers;
  readonly memory: Pick<AnswerMemory, "transactions">;
}
