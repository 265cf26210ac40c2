import { parentPort, workerData } from "node:worker_threads";
import { hardForkAt, type Network, NULL_HASH } from "@anulo/protocol";
import { type ContextTask, type Limits, type RequestInfo, serveThread } from "@anulo/rpc";
import { type ChainReader, type ChainSnapshot, openReader, type Prefetch } from "@anulo/storage";
import type { CallTracking } from "./call-tracking.ts";
import type { ChainTop } from "./chain-call-context.ts";
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

/** What handlers are told of the chain's top, found when first needed. */
function topOf(read: ChainReader, network: Network): () => ChainTop {
  let top: ChainTop | undefined;
  return () => {
    const height = read.height();
    top ??= {
      height,
      topId: read.blockField(height - 1, "hash") ?? NULL_HASH,
      hardForkVersion: hardForkAt(network, height),
      recentTimestamps: (count) => [
        ...read.blockInfoColumn("timestamp", Math.max(0, height - count), height),
      ],
    };
    return top;
  };
}

function onlyInNode(): never {
  throw new OnlyInNode("only the node's own thread knows this");
}

function start({ databasePath, network, limits }: AnswerWorkerData): void {
  const reader = openReader(databasePath);
  const memory = {
    transactions: createMemory<string, TransactionText>({
      capacity: REMEMBERED_BYTES,
      cost: ({ bytes }) => bytes,
    }),
  };
  let moment: ChainSnapshot | undefined;
  const contextOf = (
    { dialect, restricted, remoteAddress, caller }: RequestInfo,
    { facts, note, onWait }: ContextTask,
  ): ThreadContext => {
    // A whole response is of one moment, in which everything is seen that the node had written before it was asked.
    reader.refresh();
    const read = reader.snapshot();
    moment = read;
    const prefetch: Prefetch = (rows, options) => {
      const since = performance.now();
      return reader.prefetch(rows, options)?.finally(() => onWait(performance.now() - since));
    };
    const store = { read, snapshot: () => ({ ...read, close() {} }), prefetch };
    return {
      dialect,
      restricted,
      remoteAddress,
      signal: caller.signal,
      rows: caller.rows,
      parts: {
        store,
        state: { view: topOf(read, network) },
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
    rowsRead: reader.rowsRead,
    contextOf,
    release() {
      moment?.close();
      moment = undefined;
    },
    close: () => reader.close(),
  });
}

start(workerData as AnswerWorkerData);
