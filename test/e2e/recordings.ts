import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import {
  type ExactObject,
  formatExact,
  isExactObject,
  loadChain,
  loadGoldenState,
  parseExact,
  type RecordedBlock,
  type RecordedWallet,
} from "@anulo/testkit";

/** A chain to feed to a node, and the wallets that were used on it. */
export type RealChain = {
  readonly name: string;
  readonly blocks: readonly RecordedBlock[];
  /** Side blocks, hex, submitted after the chain. */
  readonly sideBlocks: readonly string[];
  /** Transactions, hex, left in the pool. */
  readonly pool: readonly string[];
  readonly wallets: { readonly [name: string]: RecordedWallet };
};

/** The chains on which answers of the original programs are recorded. */
export function realChains(): readonly RealChain[] {
  const { blocks, wallets } = loadChain();
  const { blocks: goldenBlocks, alt, pool, wallets: goldenWallets } = loadGoldenState();
  return [
    { name: "chain-of-500-blocks", blocks, sideBlocks: [], pool: [], wallets },
    { name: "golden-state", blocks: goldenBlocks, sideBlocks: alt, pool, wallets: goldenWallets },
  ];
}

const fileOf = (name: string) => new URL(`../../e2e/recorded/${name}.json.gz`, import.meta.url);

/** What the original programs answered about a chain. */
export function readRecording(name: string): ExactObject {
  const recording = parseExact(gunzipSync(readFileSync(fileOf(name))).toString());
  if (!isExactObject(recording)) throw new Error(`${name} is no recording`);
  return recording;
}

export function writeRecording(name: string, recording: ExactObject): void {
  writeFileSync(fileOf(name), gzipSync(formatExact(recording), { level: 9 }));
}
