/** The values by which a running wallet service is monitored. */
import type { NatsSink, Webhooks } from "@anulo/events";
import type { ReadinessChecks } from "@anulo/metrics";
import type { RpcServer, RpcSource } from "@anulo/rpc";
import type { Engine } from "@anulo/store";
import { checked, type Daemon } from "../daemon.ts";
import type { Runtime } from "../runtime.ts";
import type { HeightTally } from "../scan/height-tally.ts";

/** The result of the last request to a component outside the service. */
export interface Reached {
  isReached: boolean;
  /** Duration of its last response in seconds; undefined before the first. */
  seconds: number | undefined;
}

export interface WalletMonitor {
  readonly runtime: Runtime;
  readonly server: Pick<RpcServer, "usage" | "connectionCount">;
  readonly events: WatchedEvents | undefined;
  /** Undefined for a service without a node. */
  readonly node: (Reached & { height: number | undefined }) | undefined;
  /** Undefined if ledgers are in files. */
  readonly store: Reached | undefined;
  readonly checks: ReadinessChecks;
}

export interface WatchedEvents {
  readonly log: { readonly last: number; readonly oldest: number; readonly ended: AbortSignal };
  readonly webhooks: Pick<Webhooks, "list" | "givenUp">;
  readonly sink: Pick<NatsSink, "sequence" | "isConnected"> | undefined;
}

/** Metrics are read from a monitor and from the RPC server of its service. */
export interface WalletSource extends RpcSource {
  readonly wallet: WalletMonitor;
}

export type Watched = Pick<WalletMonitor, "runtime" | "server"> & {
  /** The service's open event log, where this process has it; undefined for a service without events. */
  readonly events: (() => WatchedEvents | undefined) | undefined;
  /** A separate connection; undefined for a service without a node. */
  readonly daemon: Daemon | undefined;
  readonly engine: Pick<Engine, "markOf"> | undefined;
  /** Returns milliseconds. */
  readonly now?: () => number;
};

/**
 * A new block is scanned at the next refresh, at most 20 seconds later: a larger lag means that scans do not keep up.
 */
export const BLOCKS_BEHIND = 10;
/** The id of no wallet: reading its entry takes as long as any other request to the store. */
const NO_WALLET = new Uint8Array(16);

/** Maximum duration of a response (milliseconds). */
const ANSWER_MS = 1900;

/** Creates the monitor; it sends no request before the checks are run. */
export function createWalletMonitor({ daemon, engine, now, ...watched }: Watched): WalletMonitor {
  const clock = now ?? (() => performance.now());
  const node = daemon && { isReached: false, seconds: undefined, height: undefined as number | undefined };
  const store = engine && { isReached: false, seconds: undefined };
  const {
    runtime: { heights },
    events,
  } = watched;
  let asking: Promise<number> | undefined;
  const nodeHeight = (): Promise<number> => {
    asking ??= reach(node!, clock, async () => {
      const { height } = await checked(daemon!.client.getHeight({}, { timeoutMs: ANSWER_MS }));
      node!.height = height;
      return height;
    }).finally(() => {
      asking = undefined;
    });
    return asking;
  };
  const checks: ReadinessChecks = {
    ...(daemon !== undefined && {
      node: () => nodeHeight().then(() => undefined),
      // If the node does not respond, the check above reports it.
      wallets: () =>
        nodeHeight().then(
          (height) => whyBehind(heights, height),
          () => undefined,
        ),
    }),
    ...(engine !== undefined && {
      store: () => reach(store!, clock, () => engine.markOf(NO_WALLET)).then(() => undefined),
    }),
    ...(events !== undefined && {
      events: () => (events()?.log.ended.aborted === true ? "the event log has ended" : undefined),
    }),
  };
  const { server } = watched;
  return {
    runtime: watched.runtime,
    server,
    get events() {
      return events?.();
    },
    node,
    store,
    checks,
  };
}

/**
 * The reason for being unready, if more than half of the open wallets are behind: one wallet that is scanned from its
 * beginning should not make a service with many wallets unready.
 */
function whyBehind(heights: HeightTally, nodeHeight: number): string | undefined {
  const behind = heights.below(nodeHeight - BLOCKS_BEHIND);
  if (behind * 2 <= heights.open) return undefined;
  return `${behind} of ${heights.open} open wallets are more than ${BLOCKS_BEHIND} blocks behind the node`;
}

/** Records whether a component responds, and how fast. */
async function reach<T>(reached: Reached, now: () => number, ask: () => Promise<T>): Promise<T> {
  const start = now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ANSWER_MS} ms`)), ANSWER_MS);
  });
  try {
    const answer = await Promise.race([ask(), late]);
    reached.isReached = true;
    reached.seconds = (now() - start) / 1000;
    return answer;
  } catch (error) {
    reached.isReached = false;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
