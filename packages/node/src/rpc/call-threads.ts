import { Worker } from "node:worker_threads";
import {
  type AnswerThreads,
  type Call,
  type CallRequest,
  createAnswerThreads,
  daemon,
  isJsonObject,
  type JsonObject,
  type Logger,
} from "@anulo/rpc";
import type { AnswerWorkerData, CountedCall, RequestFacts } from "./answer-worker.ts";
import type { CallTracking } from "./call-tracking.ts";
import type { NodeServices } from "./context.ts";

/** Milliseconds of processor time that a request takes, about; undefined: only the node's own thread answers it. */
type CostOf = (request: CallRequest) => number | undefined;

/** A cost by the length (bytes) of what names each item that is asked for. */
const perItem =
  (milliseconds: number, bytes: number): CostOf =>
  ({ body }) =>
    (milliseconds * body.length) / bytes;

/** In the contract's dialect, headers have proof-of-work hashes that this thread remembers. */
const ofHeaders =
  (costOf: (params: JsonObject) => number | undefined): CostOf =>
  ({ params = null, request }) => {
    const isKnown = request.dialect === "upstream" && isJsonObject(params) && params.fill_pow_hash !== true;
    return isKnown ? costOf(params) : undefined;
  };

/** Other values are refused sooner than handed over. */
function blocksOfRange({ start_height: start, end_height: end }: JsonObject): number | undefined {
  return typeof start === "number" && typeof end === "number" ? end - start + 1 : undefined;
}

const REQUESTED_INFO = Buffer.from("requested_info");
/** Type of a number of 8 bits in portable storage. Source: portable_storage_base.h SERIALIZE_TYPE_UINT8. */
const UINT8 = 8;

/** Whether something of the pool is asked for, in the form in which wallets ask for it. */
function asksForPool(body: Uint8Array): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const end = bytes.indexOf(REQUESTED_INFO) + REQUESTED_INFO.length;
  return end >= REQUESTED_INFO.length && bytes[end] === UINT8 && bytes[end + 1] !== 0;
}

const HEADER_MS = 0.01;

const { blocks, outputs, transactions } = daemon;

/** The calls that take longer than handing them over, by what was measured of each. */
const costs = new Map<Call, CostOf>([
  [blocks.getBlockHeadersRange, ofHeaders((params) => HEADER_MS * (blocksOfRange(params) ?? 0))],
  [blocks.getBlocksBin, ({ body }) => (asksForPool(body) ? undefined : 5)],
  [blocks.getBlocksByHeightBin, perItem(0.02, 8)],
  [transactions.getTransactions, perItem(0.03, 67)],
  [outputs.getOuts, perItem(0.003, 27)],
  [outputs.getOutsBin, perItem(0.002, 33)],
]);

/** Less than this (milliseconds) is done sooner than handed over: measured with single blocks, 0.08 ms each. */
const MIN_MS = 0.1;
/** What a caller asks for may be refused at once, however much it is. */
const MAX_MS = 20;

function costOf(request: CallRequest): number | undefined {
  const milliseconds = costs.get(request.call)?.(request) ?? 0;
  return milliseconds >= MIN_MS ? Math.min(milliseconds, MAX_MS) : undefined;
}

export interface CallThreadsOptions extends Omit<AnswerWorkerData, "databasePath"> {
  readonly services: Pick<NodeServices, "parts" | "bootstrap"> & { readonly calls: CallTracking };
  readonly maxThreads: number;
  /** Milliseconds without a request after which a thread ends. */
  readonly idleMs?: number;
  readonly log: Logger;
}

/** Threads that answer calls of a node about its chain; started when first needed. */
export function createCallThreads({
  services,
  maxThreads,
  idleMs,
  log,
  network,
  limits,
}: CallThreadsOptions): AnswerThreads {
  const { parts, bootstrap, calls } = services;
  const workerData: AnswerWorkerData = { databasePath: parts.store.path, network, limits };
  return createAnswerThreads({
    maxThreads,
    ...(idleMs !== undefined && { idleMs }),
    log,
    costOf: (request) => (bootstrap.isWanted ? undefined : costOf(request)),
    facts: () => ({ now: parts.now() }) satisfies RequestFacts,
    onNote: (note) => {
      const { name, ...counted } = note as CountedCall;
      calls.note(name, counted);
    },
    startWorker: () => new Worker(new URL("./answer-worker.js", import.meta.url), { workerData }),
  });
}
