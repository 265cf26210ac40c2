/** How often a call was made, how long that took (nanoseconds), and what it would have cost (credits). */
export interface TrackedCall {
  readonly rpc: string;
  count: number;
  time: number;
  credits: number;
}

/** Counts the calls that reach their handlers. */
export interface CallTracking {
  /** By name. */
  entries(): TrackedCall[];
  clear(): void;
  note(
    name: string,
    calls: { readonly count?: number; readonly ms?: number; readonly credits?: number },
  ): void;
}

/** Starts with no calls. */
export function createCallTracking(): CallTracking {
  const calls = new Map<string, TrackedCall>();
  return {
    entries: () => [...calls.values()].sort((a, b) => (a.rpc < b.rpc ? -1 : 1)).map((call) => ({ ...call })),
    clear: () => calls.clear(),
    note(name, { count = 1, ms = 0, credits = 0 }) {
      const call = calls.get(name) ?? { rpc: name, count: 0, time: 0, credits: 0 };
      calls.set(name, call);
      call.count += count;
      call.time += Math.round(ms * 1e6);
      // A caller names the price: beyond what a number counts exactly, it stays there.
      call.credits = Math.min(call.credits + credits, Number.MAX_SAFE_INTEGER);
    },
  };
}
