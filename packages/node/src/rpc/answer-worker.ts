import { parentPort, workerData } from "node:worker_threads";
import type { ChainView } from "@anulo/consensus";
import { hardForkAt, type Network, NULL_HASH } from "@anulo/protocol";
import { type Limits, type RequestInfo, serveThread } from "@anulo/rpc";
import { type ChainReader, openReader } from "@anulo/storage";
import type { CallTracking } from "./call-tracking.ts";
import type { ChainCallContext } from "./chain-call-context.ts";
import { createMemory } from "./memory.ts";
import { OnlyInNode, type ThreadContext, threadCalls } from "./thread-calls.ts";
import type { TransactionText } from "./transaction-text.ts";

/** What a thread is started with. */
export interface AnswerWorkerData {
  readonly databasePath: string;
  readonly network: Network;
  readonly limits: { readonly owner: Limits; readonly strangers: Limits };
}

/** What a thread is told with each request. */
export interface RequestFacts {
  /** Unix seconds. */
  readonly now: number;
}

/** A counted call, as `CallTracking` takes it. */
export type CountedCall = { readonly name: string } & Parameters<CallTracking["note"]>[1];

/** Bytes of texts of transactions that a thread remembers: fewer than the node, since there are several threads. */
const REMEMBERED_BYTES = 4 * 1024 * 1024;

/** The chain's top by what is read of it in this moment. */
function topOf(read: ChainReader, network: Network): ReturnType<ChainCallContext["parts"]["state"]["view"]> {
  const height = read.height();
  return {
    height,
    get topId() {
      return read.blockField(height - 1, "hash") ?? NULL_HASH;
    },
    hardForkVersion: hardForkAt(network, height),
    recentTimestamps: (count) => [...read.blockInfoColumn("timestamp", Math.max(0, height - count), height)],
  } satisfies Partial<ChainView>;
}

function onlyInNode(): never {
  throw new OnlyInNode("only the node's own thread knows this");
}

function start({ databasePath, network, limits }: AnswerWorkerData): void {
  const store = openReader(databasePath);
  const memory = {
    transactions: createMemory<string, TransactionText>({
      capacity: REMEMBERED_BYTES,
      cost: ({ bytes }) => bytes,
    }),
  };
  const contextOf = (
    { dialect, restricted, remoteAddress, caller }: RequestInfo,
    { facts, note }: { readonly facts: unknown; note(note: unknown): void },
  ): ThreadContext => {
    store.refresh();
    return {
      dialect,
      restricted,
      remoteAddress,
      signal: caller.signal,
      rows: caller.rows,
      parts: {
        store,
        state: { view: () => topOf(store.read, network) },
        pool: { get: onlyInNode },
        now: () => (facts as RequestFacts).now,
      },
      pow: { hashOf: onlyInNode },
      failingCallers: { failed: onlyInNode },
      memory,
      calls: { note: (name, counted) => note({ name, ...counted } satisfies CountedCall) },
    };
  };
  serveThread({
    port: parentPort!,
    calls: threadCalls(),
    limits,
    rowsRead: store.rowsRead,
    contextOf,
    close: () => store.close(),
  });
}

start(workerData as AnswerWorkerData);
