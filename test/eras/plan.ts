import { type Network, networks } from "@anulo/protocol";

/** Where hard forks 2 to 16 begin on the chain of eras. */
export const forkHeights: readonly number[] = Array.from({ length: 15 }, (_, i) => 100 + 24 * i);

/** Blocks of the chain of eras, the first one included. */
export const chainHeight = 460;

/** Stagenet, but for the heights of its hard forks. */
export function networkWithForks(heights: readonly number[]): Network {
  const [first, ...rest] = networks.stagenet.hardForks;
  return {
    ...networks.stagenet,
    hardForks: [first!, ...rest.map((fork, i) => ({ ...fork, height: heights[i]! }))],
  };
}

/** Heights at which the newest block is tried with siblings: the last of an era, and the first of the next. */
export const siblingHeights: readonly number[] = forkHeights.flatMap((height) => [height, height + 1]);

/** Heights at which strange transactions and blocks are tried: on both sides of each fork. */
export const trialHeights: readonly number[] = forkHeights.flatMap((height) => [height - 1, height]);
