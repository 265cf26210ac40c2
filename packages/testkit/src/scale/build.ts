import { openStore } from "@anulo/storage";
import { type BlockShape, fakeBlock } from "./fake-blocks.ts";

/** Blocks of one write transaction, as many as a sync that is far behind writes at once. */
const BLOCKS_PER_WRITE = 1000;

export interface BuildOptions extends BlockShape {
  /** The database file to write. */
  readonly path: string;
  readonly blocks: number;
  onProgress(height: number): void;
}

/** Writes a made-up chain through the storage package, on top of what the file has already; bytes of the file. */
export async function buildDatabase(options: BuildOptions): Promise<number> {
  const store = await openStore({ path: options.path, network: "regtest" });
  try {
    for (let start = store.read.height(); start < options.blocks; start += BLOCKS_PER_WRITE) {
      const end = Math.min(options.blocks, start + BLOCKS_PER_WRITE);
      store.write((writer) => {
        for (let height = start; height < end; height++) writer.appendBlock(fakeBlock(height, options));
      });
      options.onProgress(end);
      // The disk catches up here: pages are used again once they are flushed.
      await store.flush();
    }
    return store.fileSize();
  } finally {
    await store.close();
  }
}
