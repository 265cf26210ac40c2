/** When blocks are mined without being asked for. */
export type MiningMode =
  /** Only when asked for. */
  | "manual"
  /** A block as soon as a transaction waits in the pool. */
  | "payment"
  /** A block every so many milliseconds. */
  | { readonly everyMs: number };

export type AutoMining = {
  set(mode: MiningMode): void;
  /** Ends it, and waits for a block that is being mined. */
  stop(): Promise<void>;
};

export type AutoMiningParts = {
  /** Calls back whenever transactions may wait; returns the function that ends it. */
  readonly onPayment: (listener: () => void) => () => void;
  /** Number of transactions that wait. */
  readonly waiting: () => Promise<number>;
  readonly mine: () => Promise<unknown>;
};

/** Begins with manual mining. A failure to mine ends what was set, with a warning of the process. */
export function createAutoMining({ onPayment, waiting, mine }: AutoMiningParts): AutoMining {
  let end = (): void => undefined;
  let mining: Promise<unknown> | undefined;
  let isWanted = false;
  const reset = () => {
    end();
    end = () => undefined;
    isWanted = false;
  };
  const run = async (isDue: () => Promise<boolean>): Promise<void> => {
    while (isWanted) {
      isWanted = false;
      if (await isDue()) await mine();
    }
  };
  const request = (isDue: () => Promise<boolean>) => {
    isWanted = true;
    mining ??= run(isDue)
      .catch((error: Error) => {
        reset();
        process.emitWarning(`the devnet mines no more by itself: ${error.message}`);
      })
      .finally(() => {
        mining = undefined;
        if (isWanted) request(isDue);
      });
  };
  return {
    set(mode) {
      reset();
      if (mode === "manual") return;
      if (mode === "payment") {
        const isDue = async () => (await waiting()) > 0;
        end = onPayment(() => request(isDue));
        request(isDue);
        return;
      }
      if (!(mode.everyMs >= 1 && mode.everyMs <= 2 ** 31 - 1)) throw new RangeError("everyMs is at least 1");
      const timer = setInterval(() => request(async () => true), mode.everyMs);
      timer.unref();
      end = () => clearInterval(timer);
    },
    async stop() {
      reset();
      await mining;
    },
  };
}
