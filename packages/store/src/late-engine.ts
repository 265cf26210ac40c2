import type { Engine } from "./engine.ts";
import { StoreUnavailable } from "./errors.ts";

/**
 * A database that can't be opened yet, because the disk is full for instance: each call tries it again, and throws
 * `StoreUnavailable` while that fails. `first` is why it failed so far.
 */
export function openLater(open: () => Engine, first: unknown): Engine {
  let opened: Engine | undefined;
  let isClosed = false;
  let cause = first;
  const engine = (): Engine => {
    if (isClosed) throw new StoreUnavailable("the store is closed");
    try {
      opened ??= open();
      return opened;
    } catch (error) {
      cause = error;
      throw new StoreUnavailable("the store can't be opened", { cause });
    }
  };
  return {
    fence: async (...args) => await engine().fence(...args),
    markOf: async (...args) => await engine().markOf(...args),
    apply: async (...args) => await engine().apply(...args),
    read: async (...args) => await engine().read(...args),
    readNow: (...args) => engine().readNow?.(...args),
    page: async (...args) => await engine().page(...args),
    snapshot: async (...args) => await engine().snapshot(...args),
    async close() {
      isClosed = true;
      await opened?.close();
    },
  };
}
