/** What a service lends the wallets it runs: threads, clock, randomness. */
import { randomBytes } from "node:crypto";
import type { RandomSource } from "@anulo/crypto";
import { HeightTally } from "./scan/height-tally.ts";
import { ScanThreads } from "./scan/scan-threads.ts";
import { SendingCounts } from "./sending-counts.ts";
import { WorkThreads } from "./threads/work-threads.ts";

export type Runtime = {
  readonly threads: WorkThreads;
  readonly scanThreads: ScanThreads;
  /** Seconds since 1970. */
  readonly clock: () => number;
  readonly random: RandomSource;
  readonly sending: SendingCounts;
  /** Where the open wallets are. */
  readonly heights: HeightTally;
  /** Rounds of CryptoNight behind a password or a sealed set; 1 if undefined. */
  readonly kdfRounds: number | undefined;
};

export type RuntimeOptions = Partial<Pick<Runtime, "clock" | "random" | "kdfRounds">> & {
  /** At most so many threads for jobs; one a processor unless given. */
  readonly concurrency?: number;
};

/** Threads start when they are first needed; `closeRuntime` ends them. */
export function createRuntime({ concurrency, clock, random, kdfRounds }: RuntimeOptions = {}): Runtime {
  const threads = new WorkThreads();
  if (concurrency !== undefined) threads.most = concurrency;
  return {
    threads,
    scanThreads: new ScanThreads(concurrency),
    clock: clock ?? (() => Math.floor(Date.now() / 1000)),
    random: random ?? randomBytes,
    sending: new SendingCounts(),
    heights: new HeightTally(),
    kdfRounds,
  };
}

/** Ends the threads once they have done the jobs they have. */
export async function closeRuntime({ threads, scanThreads }: Runtime): Promise<void> {
  await Promise.all([threads.close(), scanThreads.close()]);
}
