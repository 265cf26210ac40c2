import { statSync } from "node:fs";
import type { ChainSnapshot, ChainStore } from "./chain-store.ts";
import { openEnvironment } from "./environment.ts";
import { createPrefetcher, memoryOfProcess } from "./prefetch.ts";
import { createReader } from "./reader.ts";

/** A chain database that another thread of the process writes. */
export interface ThreadReader extends Pick<ChainStore, "read" | "snapshot" | "prefetch" | "rowsRead"> {
  /** From now on `read` sees everything that was committed before, by any thread. */
  refresh(): void;
  close(): Promise<void>;
}

/** The thread that writes keeps the others, one of which nobody but the owner may have. */
const SHARE = { forAll: 2, forStrangers: 1 };

/** Opens an existing chain database for reading in a thread of the process that has opened it for writing. */
export function openReader(path: string): ThreadReader {
  const { root, tables, rowsRead } = openEnvironment(path, { readOnly: true });
  const fileSize = () => statSync(path).size;
  const prefetcher = createPrefetcher({ tables, fileSize, memoryBytes: memoryOfProcess(), share: SHARE });
  return {
    read: createReader(tables),
    snapshot(): ChainSnapshot {
      const transaction = root.useReadTransaction();
      return { ...createReader(tables, transaction), close: () => transaction.done() };
    },
    prefetch: prefetcher.prefetch,
    rowsRead: () => rowsRead.count,
    // The binding reads in one transaction until its thread's timers run.
    refresh: () => root.resetReadTxn(),
    async close() {
      await prefetcher.end();
      await root.close();
    },
  };
}
