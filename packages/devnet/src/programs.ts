import type { Node } from "@anulo/node";
import type { Clock } from "./clock.ts";
import type { DevnetKeys } from "./keys.ts";
import type { SeededRandom } from "./random.ts";
import type { SavedState } from "./saved-state.ts";

/** The programs of a devnet: a node, and wallet services that are added to it. */
export type Programs = {
  /** Undefined where it is not ours. */
  readonly node: Node | undefined;
  readonly nodeUrl: string;
  /** Undefined where the programs take the time from the system. */
  readonly clock: Clock | undefined;
  readonly random: SeededRandom;
  /** Starts a wallet service with this wallet open, which asks the node at that URL; returns its own. */
  openWallet(name: string, keys: DevnetKeys, daemonUrl: string): Promise<string>;
  /** Resolves when the node is asked by its RPC to stop, if it is ours. */
  readonly stopRequested: Promise<void>;
  save(): Promise<SavedState>;
  stop(): Promise<void>;
};

/** Ends all, one after the other, even where one fails; then throws what failed. */
export async function stopEach(stops: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const end of stops) await end().catch((error) => failures.push(error));
  if (failures.length > 0) throw new AggregateError(failures, "a part of the devnet did not stop cleanly");
}
