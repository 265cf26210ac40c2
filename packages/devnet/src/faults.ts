/** What can go wrong between two programs. */
export type FaultKind =
  /** Connections are reset at once: nothing arrives. */
  | "away"
  /** Every request is answered with HTTP status 503. */
  | "refusing"
  /** Requests wait before they are passed on. */
  | "slow"
  /** Requests are passed on and done, and the connection is closed instead of an answer. */
  | "lost-answers";

export type FaultOptions = {
  /** `node`: between the wallets and the node. `wallet`: between callers and wallets. */
  readonly at: "node" | "wallet";
  readonly kind: FaultKind;
  /** Milliseconds that each request of a slow one waits; 1,000 if left out. */
  readonly delayMs?: number | undefined;
  /**
   * Calls it befalls, by method or last part of the path (`transfer`, `sendrawtransaction`, `getblocks.bin`), with or
   * without underscores; left out, all.
   */
  readonly calls?: readonly string[] | undefined;
  /** Number of requests after which it ends by itself. */
  readonly times?: number | undefined;
  /** Name of the wallet it befalls, at wallets; left out, all. */
  readonly wallet?: string | undefined;
};

export type Fault = {
  /** A number of its own. */
  readonly id: number;
  readonly options: FaultOptions;
  /** Number of requests it has befallen. */
  readonly count: number;
  readonly isOver: boolean;
  end(): void;
};

/** Faults on demand: each lasts until it is ended, or has befallen as many requests as it was to. */
export type Faults = {
  /** Begins a fault. Throws a RangeError for options that make no sense. */
  begin(options: FaultOptions): Fault;
  endAll(): void;
  /** Those that are not over, the oldest first. */
  readonly active: readonly Fault[];
};

/** A request on its way, as far as faults tell requests apart. */
export type RequestOnItsWay = {
  readonly at: FaultOptions["at"];
  readonly wallet?: string | undefined;
  /** Method or path; undefined where it is not known yet. */
  readonly call?: string | undefined;
};

/** Faults, as those see them who pass requests on. */
export type FaultBook = Faults & {
  /** Whether any fault may befall requests there. */
  concerns(place: RequestOnItsWay): boolean;
  /** The fault that befalls this request, which counts it. */
  apply(request: RequestOnItsWay): FaultOptions | undefined;
  /** Is called when a fault has begun. */
  onBegin: ((options: FaultOptions) => void)[];
};

const DEFAULT_DELAY_MS = 1000;
const MAX_DELAY_MS = 3_600_000;

function check({ at, wallet, delayMs = 0, times = 1, calls = [""] }: FaultOptions): void {
  if (!Number.isSafeInteger(times) || times < 1) throw new RangeError("times must be a whole number above 0");
  if (!(delayMs >= 0 && delayMs <= MAX_DELAY_MS)) throw new RangeError("delayMs is at most an hour");
  if (wallet !== undefined && at !== "wallet")
    throw new RangeError("only faults at wallets befall one of them");
  if (calls.length === 0) throw new RangeError("calls must name a call");
}

/** Starts without faults. */
export function createFaults(): FaultBook {
  const active: (Fault & { count: number; isOver: boolean })[] = [];
  let lastId = 0;
  const end = (fault: (typeof active)[number]) => {
    fault.isOver = true;
    const place = active.indexOf(fault);
    if (place >= 0) active.splice(place, 1);
  };
  const onBegin: FaultBook["onBegin"] = [];
  return {
    active,
    onBegin,
    begin(options) {
      check(options);
      lastId += 1;
      const fault = { id: lastId, options, count: 0, isOver: false, end: () => end(fault) };
      active.push(fault);
      for (const listener of onBegin) listener(options);
      return fault;
    },
    endAll: () => {
      for (const fault of [...active]) end(fault);
    },
    concerns: (place) => active.some(({ options }) => isThere(options, place)),
    apply(request) {
      const fault = active.find(({ options }) => isThere(options, request) && isCalled(options, request));
      if (fault === undefined) return undefined;
      fault.count += 1;
      if (fault.count === fault.options.times) end(fault);
      return { delayMs: DEFAULT_DELAY_MS, ...fault.options };
    },
  };
}

function isThere({ at, wallet }: FaultOptions, place: RequestOnItsWay): boolean {
  return at === place.at && (wallet === undefined || wallet === place.wallet);
}

function isCalled({ calls }: FaultOptions, { call }: RequestOnItsWay): boolean {
  if (calls === undefined) return true;
  return call !== undefined && calls.some((name) => plainName(name) === plainName(call));
}

/** Many calls have two names: `send_raw_transaction` is also `sendrawtransaction`. */
function plainName(name: string): string {
  return name.replaceAll("_", "");
}
