import { statSync } from "node:fs";
import { bulkLoad } from "@anulo/storage";
import { type BlockShape, createFakeChain } from "./fake-blocks.ts";

export interface BuildOptions extends BlockShape {
  /** The database file to create. */
  readonly path: string;
  readonly blocks: number;
  onProgress(progress: { readonly blocks: number; readonly sortedRows: number }): void;
}

/** Writes a made-up chain through the storage package; returns the bytes of the file. */
export async function buildDatabase(options: BuildOptions): Promise<number> {
  const { path, blocks, onProgress } = options;
  const chain = createFakeChain(options, blocks);
  await bulkLoad({ path, network: "regtest", blocks: chain.blocks(), sorted: chain.sorted, onProgress });
  return statSync(path).size;
}
