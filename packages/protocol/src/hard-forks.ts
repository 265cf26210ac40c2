import type { Network } from "./networks.ts";

/** Hard fork version whose rules a block at this height (blocks below it) follows. */
export function hardForkAt({ hardForks }: Pick<Network, "hardForks">, height: number): number {
  return hardForks.findLast((fork) => fork.height <= height)?.version ?? hardForks[0]!.version;
}

/** First height of a hard fork version, undefined when the network does not have it. */
export function heightOfHardFork(
  { hardForks }: Pick<Network, "hardForks">,
  version: number,
): number | undefined {
  return hardForks.find((fork) => fork.version === version)?.height;
}
