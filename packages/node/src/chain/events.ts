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

/** Told of everything that has happened, after it is on disk. */
export interface Events {
  /** Tells everybody; what a listener throws is reported as a bug of its own, for what happened has happened. */
  emit(event: ChainEvent): void;
  /** Starts listening; gives the function that ends it. */
  listen(listener: (event: ChainEvent) => void): () => void;
}

/** Where nobody takes bugs they end the process, as any error does that nobody caught. */
function endProcess(bug: unknown): void {
  process.nextTick(() => {
    throw bug;
  });
}

/** Starts without listeners; `onBug` is told what they throw. */
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
