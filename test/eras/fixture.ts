import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import type { ExactObject } from "@anulo/testkit";
import { formatExact, parseExact } from "@anulo/testkit";

/** A transaction no block holds, made to be judged under the rules of every era. */
export type Specimen = {
  /** The rules it was made by, and how. */
  readonly name: string;
  readonly blob: string;
  /** The chain has all its rings point to from this height on. */
  readonly from: number;
};

export type ErasBlock = {
  readonly blob: string;
  readonly transactions: readonly string[];
  /** What the real program says about it, by call. */
  readonly header: ExactObject;
  /** Of `describeBlock`. */
  readonly described: string;
};

/** What the real program said when the chain had a certain height. */
export type ErasTrial = {
  readonly height: number;
  /** A good next block (hex), from which `strangeBlocks` are made. */
  readonly good: string;
  /** Of each specimen that can be judged at this height, in their order. */
  readonly transactions: readonly string[];
  /** Of each of `strangeTransactions`, by name; nothing where they were not tried. */
  readonly strangeTransactions: Readonly<Record<string, string>>;
  /** Of each block of `strangeBlocks`, by name. */
  readonly blocks: Readonly<Record<string, string>>;
  /** Of `describeTemplate`. */
  readonly template: string;
};

/** What the real program answered about the strange variations of its newest block, which go beside the chain. */
export type ErasSiblings = {
  readonly height: number;
  readonly blocks: Readonly<Record<string, string>>;
};

/** Calls (a path begins with a stroke) and their answers at a height of the chain. */
export type ErasAnswer = {
  readonly height: number;
  readonly method: string;
  readonly params: ExactObject;
  readonly answer: ExactObject;
};

/** A chain that lives through all hard forks, as the real program saw it. Bytes are hex. */
export type ErasFixture = {
  readonly blocks: readonly ErasBlock[];
  readonly specimens: readonly Specimen[];
  readonly trials: readonly ErasTrial[];
  readonly siblings: readonly ErasSiblings[];
  readonly answers: readonly ErasAnswer[];
};

const file = new URL("../../../test/eras/recorded/eras.json.gz", import.meta.url);

export function loadEras(): ErasFixture {
  return parseExact(gunzipSync(readFileSync(file)).toString()) as unknown as ErasFixture;
}

export function saveEras(eras: ErasFixture): void {
  writeFileSync(file, gzipSync(formatExact(eras as never), { level: 9 }));
}
