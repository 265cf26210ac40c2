/**
 * The parameters that differ between the versions of RandomX; all else is the same, caches and datasets too. Source:
 * RandomX specification (github.com/tevador/RandomX, doc/specs.md), chapters 1, 4.3, 4.6.2 and 5.4.1.
 */

/** Version 1 is used by every network from hard fork 12 on; version 2 by none so far. */
export type RandomXVersion = 1 | 2;

export type VersionParameters = {
  /** Instructions of a program. */
  readonly programSize: number;
  /** CFROUND takes effect where these bits of its rotated operand are 0. */
  readonly roundingGuard: number;
  /** The register that each iteration changes for a later item: `mx` is read in the next one, `ma` in the one after. */
  readonly changedAddress: "mx" | "ma";
  /** How additive registers are mixed with multiplicative ones: f ^= e, or four AES rounds of each f, all e as keys. */
  readonly mixing: "xor" | "aes";
};

export const VERSIONS: Readonly<Record<RandomXVersion, VersionParameters>> = {
  1: { programSize: 256, roundingGuard: 0, changedAddress: "mx", mixing: "xor" },
  2: { programSize: 384, roundingGuard: 0b111100, changedAddress: "ma", mixing: "aes" },
};

/** Bytes of a program before its instructions. */
export const CONFIGURATION_BYTES = 128;

/** Bytes that are drawn for a program: configuration and instructions. */
export const programBytes = ({ programSize }: VersionParameters): number =>
  CONFIGURATION_BYTES + 8 * programSize;
