/** What a service shares with the wallets it runs: threads, clock, randomness. */
import { randomBytes } from "node:crypto";
import type { RandomSource } from "@anulo/crypto";
import { SharedBlockIds } from "./packed/block-ids.ts";
import { HeightTally } from "./scan/height-tally.ts";
import { LongScans } from "./scan/long-scans.ts";
import { ScanThreads } from "./scan/scan-threads.ts";
import { SendingCounts } from "./sending-counts.ts";
import { WorkThreads } from "./threads/work-threads.ts";

export type Runtime = {
  readonly threads: WorkThreads;
  readonly scanThreads: ScanThreads;
  /** Returns seconds since 1970. */
  readonly clock: () => number;
  readonly random: RandomSource;
  readonly sending: SendingCounts;
  /** The heights at which open wallets are. */
  readonly heights: HeightTally;
  readonly longScans: LongScans;
  /** The ids of the blocks that they have scanned. */
  readonly blockIds: SharedBlockIds;
  /** Rounds of CryptoNight for deriving a key from a password, or for an encrypted set; 1 if undefined. */
  readonly kdfRounds: number | undefined;
};

export type RuntimeOptions = Partial<Pick<Runtime, "clock" | "random" | "kdfRounds">> & {
  /** Maximum number of threads for jobs; one per processor if left out, with 0 everything runs in the caller's thread. */
  readonly concurrency?: number | undefined;
  /** Called when scans of many blocks begin, and when the last of them has ended. */
  readonly onLongScan?: ((isUnderWay: boolean) => void) | undefined;
};

/** Creates a runtime. Threads start when they are first needed; `closeRuntime` ends them. */
export function createRuntime(options: RuntimeOptions = {}): Runtime {
  const { concurrency, clock, random, kdfRounds, onLongScan } = options;
  const threads = new WorkThreads();
  if (concurrency !== undefined) threads.most = concurrency;
  return {
    threads,
    scanThreads: new ScanThreads(concurrency),
    clock: clock ?? (() => Math.floor(Date.now() / 1000)),
    random: random ?? randomBytes,
    sending: new SendingCounts(),
    heights: new HeightTally(),
    longScans: new LongScans(onLongScan),
    blockIds: new SharedBlockIds(),
    kdfRounds,
  };
}

/** Ends the threads once they have finished their jobs. */
export async function closeRuntime({ threads, scanThreads }: Runtime): Promise<void> {
  await Promise.all([threads.close(), scanThreads.close()]);
}
