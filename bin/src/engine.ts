import { setFlagsFromString } from "node:v8";

/**
 * New objects of each thread get 2 MiB, where V8 would take 32 for good as soon as much is read at once. Measured on a
 * sync: 34 MiB less, in the same time; on a wallet service with 100 wallets 29 MiB less. So little is collected by one
 * thread: to divide it among several takes longer than it saves. Measured on that service: 4 % less of the processor.
 * The few buffers of a small new space are freed at once: to wake another thread for them takes longer than the rest of
 * the collection. Measured beside other work on a wallet service with 100 wallets that follow blocks: 0.7 instead of 3 ms
 * a collection.
 */
export function tuneEngine(): void {
  keepNewSpacesSmall();
  // V8 sets the factor to 2 again whenever the heap of another thread is set up.
  process.on("worker", (worker) => worker.once("online", keepNewSpacesSmall));
  setFlagsFromString("--no-parallel-scavenge");
  setFlagsFromString("--no-concurrent-array-buffer-sweeping");
  setOptimization("late");
}

function keepNewSpacesSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * After how much work a function is optimised: how often it was called, which V8 counts since version 12, or how many
 * bytes of its code were run, as many times over; before version 12 short functions are optimised sooner, if V8 may.
 */
const optimization =
  Number.parseInt(process.versions.v8, 10) < 12
    ? {
        late: [
          "--interrupt-budget=200000",
          "--ticks-before-optimization=30",
          "--max-bytecode-size-for-early-opt=0",
        ],
        soon: [
          "--interrupt-budget=30000",
          "--ticks-before-optimization=2",
          "--max-bytecode-size-for-early-opt=81",
        ],
      }
    : {
        late: ["--invocation-count-for-turbofan=9000"],
        soon: ["--invocation-count-for-turbofan=1000"],
      };

/**
 * Most of the functions that a start or a few blocks and payments would have optimised by V8's own measure are not needed
 * for long. Measured late, after 6 MB run of a function instead of 1.2 MB: a wallet service with 100 wallets that follow
 * blocks takes some 0.2 s less of 3.4 and 1 to 9 MiB less, a start and the first payments as much as before. A service in use is as
 * fast as it gets after little more than a second if functions are optimised soon from its 300th call on, after 6 s if
 * they are not: one caller who asks for 16 outputs at a time got 2,800 answers a second in the third quarter of a second
 * and 7,000 in the sixth, in place of 1,600 to 2,000 and 2,100 to 2,800. So are long scans: late, one of 4,000 blocks
 * takes a fifth longer.
 */
function setOptimization(when: keyof typeof optimization): void {
  for (const flag of optimization[when]) setFlagsFromString(flag);
}

/** A service that has answered so many calls that read is in use. */
const CALLS_IN_USE = 300;

/** What a service calls so that functions are optimised soon while it has much to do. */
export type UseOfEngine = {
  /** Before every call that reads: the service is in use, and remains so, once there were many. */
  readonly onRead: () => void;
  /** When a wallet begins to scan many blocks, and when no wallet does any more. */
  readonly onLongScan: (isUnderWay: boolean) => void;
};

export function optimizeInUse(): UseOfEngine {
  let left = CALLS_IN_USE;
  return {
    onRead: () => {
      if (--left === 0) setOptimization("soon");
    },
    onLongScan: (isUnderWay) => {
      if (left > 0) setOptimization(isUnderWay ? "soon" : "late");
    },
  };
}

/** By how many percent the heap of old objects grows before they are collected; with 0, V8 decides, by up to 300. */
const growthPercent = { least: 100, usual: 0 };

/**
 * A sync makes so many objects that live for a while that the heap grows as far as it may: with the least growth one of
 * empty blocks takes up to 50 MiB less and a sixth more of the processor. Lists of transactions then take a sixth longer,
 * so it is for a node that is far behind.
 */
export function setHeapGrowth(growth: keyof typeof growthPercent): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent[growth]}`);
}
