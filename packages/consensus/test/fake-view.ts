import type { ChainContext, ChainOutput, ChainView } from "../src/index.ts";
import { chainContext } from "../src/index.ts";

/** A view of a chain of `height` blocks, two minutes apart and of 100 bytes, with what the test says. */
export function fakeView(overrides: Partial<ChainView> = {}): ChainView {
  const height = overrides.height ?? 1000;
  const recent = <T>(count: number, at: (height: number) => T): T[] => {
    const first = Math.max(0, height - count);
    return Array.from({ length: height - first }, (_, i) => at(first + i));
  };
  return {
    height,
    topId: new Uint8Array(32),
    hardForkVersion: 16,
    fixedDifficulty: undefined,
    alreadyGenerated: 18_000_000_000_000_000_000n,
    cumulativeDifficulty: BigInt(height),
    longTermWeightMedian: 176_470,
    recentTimestamps: (count) => recent(count, (at) => 1_000_000 + 120 * at),
    recentCumulativeDifficulties: (count) => recent(count, (at) => BigInt(at + 1)),
    recentWeights: (count) => recent(count, () => 100),
    blockId: (at) => new Uint8Array(32).fill(at % 256),
    hasTransaction: () => false,
    isKeyImageSpent: () => false,
    outputCount: () => 1_000_000n,
    outputs: (_, indices) => indices.map(() => fakeOutput()),
    ...overrides,
  };
}

export function fakeContext(overrides: Partial<ChainView> = {}, now = 2_000_000): ChainContext {
  return chainContext(fakeView(overrides), now);
}

export function fakeOutput(overrides: Partial<ChainOutput> = {}): ChainOutput {
  const key = new Uint8Array(32).fill(1);
  return { key, commitment: key, height: 10, unlockTime: 0n, ...overrides };
}
