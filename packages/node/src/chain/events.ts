import type { PoolEvent } from "../pool/parts.ts";

/** Something that happened to the chain or the pool; hashes are 32 bytes. */
export type ChainEvent =
  | { readonly type: "blockAdded"; readonly height: number; readonly id: Uint8Array }
  | { readonly type: "alternativeBlock"; readonly height: number; readonly id: Uint8Array }
  | {
      readonly type: "reorganised";
      readonly forkHeight: number;
      readonly removed: number;
      readonly added: number;
    }
  | { readonly type: "blocksPopped"; readonly height: number; readonly removed: number }
  | PoolEvent;

/** Reports every event after it is on disk. */
export interface Events {
  /**
   * Calls every listener; an error that a listener throws is reported as a bug, since the event itself has happened.
   */
  emit(event: ChainEvent): void;
  /** Adds a listener; returns the function that removes it. */
  listen(listener: (event: ChainEvent) => void): () => void;
}

/** Without a handler for bugs they end the process, as any uncaught error does. */
function endProcess(bug: unknown): void {
  process.nextTick(() => {
    throw bug;
  });
}

/** Creates the events without listeners; `onBug` receives what listeners throw. */
export function createEvents(onBug: (bug: unknown) => void = endProcess): Events {
  const listeners = new Set<(event: ChainEvent) => void>();
  return {
    emit(event) {
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          onBug(error);
        }
      }
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
