import { type SharedTurns, TimeSlice } from "@anulo/limits";
import type { DatabaseFile, Snapshot } from "./database-file.ts";

/** Redirects reads while a write transaction remains open over several turns of the event loop. */
export interface LongWrite {
  /** The snapshot that readers see in the turns between: the chain as it was before; undefined in all other turns. */
  readonly before: Snapshot | undefined;
  readonly isOpen: boolean;
  /**
   * Runs these steps as one transaction, as many in one turn as fit, and calls `onTurn` whenever reads change between
   * the two states. If one step throws, it rejects and nothing is written.
   */
  run<T>(steps: Generator<void, T>, onTurn: () => void): Promise<T>;
}

/**
 * The binding's own record of its open write transaction, which all of its reads use first; the binding does not
 * declare it.
 */
type WithWriteTransaction = DatabaseFile & {
  readonly env: { writeTxn: object | null };
};

/** Prepares the long writes of an environment, which take their turns beside other works; only one may be open. */
export function createLongWrite(root: DatabaseFile, turns: SharedTurns): LongWrite {
  const { env } = root as WithWriteTransaction;
  let before: Snapshot | undefined;
  let isOpen = false;
  /** Ends the turn: other code sees no write in progress. */
  const rest = async (pin: Snapshot, onTurn: () => void) => {
    const writing = env.writeTxn;
    env.writeTxn = null;
    before = pin;
    onTurn();
    await turns.next();
    env.writeTxn = writing;
    before = undefined;
    onTurn();
  };
  const runSteps = async <T>(steps: Generator<void, T>, toRest: () => Promise<void>): Promise<T> => {
    for (;;) {
      const slice = new TimeSlice({ turns });
      let step: IteratorResult<void, T>;
      do step = steps.next();
      while (step.done !== true && !slice.isOver);
      slice.end();
      // This is done before the end too, because a large commit takes a turn of its own.
      await toRest();
      if (step.done === true) return step.value;
    }
  };
  return {
    get before() {
      return before;
    },
    get isOpen() {
      return isOpen;
    },
    async run(steps, onTurn) {
      const pin = root.useReadTransaction();
      isOpen = true;
      try {
        return await root.transactionSync(() => runSteps(steps, () => rest(pin, onTurn)));
      } finally {
        isOpen = false;
        onTurn();
        pin.done();
      }
    },
  };
}
