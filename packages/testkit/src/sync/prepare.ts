import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type MadeUpChain, makeUpChain } from "./made-up-chain.ts";

/** A made-up chain on disk; `knownBlocks` is the file of what a node needs to know to take it. */
export interface PreparedChain extends Omit<MadeUpChain, "knownBlocks"> {
  readonly knownBlocks: string;
}

export interface PrepareOptions {
  /** Blocks at least; whole groups of 512 are made. */
  readonly blocks: number;
  /** Payments of a block, on average. */
  readonly payments: number;
  readonly onProgress?: (text: string) => void;
}

/** The chain in a folder, made unless it is there. */
export async function prepareChain(folder: string, options: PrepareOptions): Promise<PreparedChain> {
  const facts = join(folder, "chain.json");
  if (existsSync(facts)) return JSON.parse(readFileSync(facts, "utf8")) as PreparedChain;
  mkdirSync(join(folder, "regtest"), { recursive: true });
  const from = performance.now();
  const { blocks, payments, onProgress = () => {} } = options;
  const { knownBlocks, ...chain } = await makeUpChain({
    databasePath: join(folder, "regtest", "chain.mdb"),
    blocks,
    payments,
    onProgress: (height) => {
      if (height % 20_000 === 0) onProgress(`made ${height} blocks`);
    },
  });
  const file = join(folder, "known-blocks.dat");
  writeFileSync(file, knownBlocks);
  const prepared = { ...chain, knownBlocks: file };
  writeFileSync(facts, JSON.stringify(prepared));
  onProgress(`made up in ${((performance.now() - from) / 1000).toFixed(0)} s`);
  return prepared;
}
