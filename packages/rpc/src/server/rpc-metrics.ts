import { byLabel, type MetricTable } from "@anulo/metrics";
import type { CallTally } from "./call-tally.ts";
import type { RpcServer } from "./server.ts";

/** The source of the RPC metrics. */
export interface RpcSource {
  readonly calls: CallTally;
  readonly server: Pick<RpcServer, "usage" | "connectionCount">;
}

/** Upper limits in seconds. */
const CALL_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60];

/** Metrics of the RPC of either service, by the names of declared calls. */
export const rpcMetrics: MetricTable<RpcSource> = {
  anulo_rpc_calls_total: {
    type: "counter",
    help: "RPC calls that have ended, by outcome.",
    labels: ["call", "outcome"],
    read: ({ calls }) =>
      Array.from(calls.counts(), ({ call, outcome, count }) => ({ labels: { call, outcome }, value: count })),
  },
  anulo_rpc_call_seconds: {
    type: "histogram",
    help: "Time that RPC calls took, without writing their answers.",
    labels: ["call"],
    buckets: CALL_BUCKETS,
    follow: ({ calls }, observe) => calls.listen((call, seconds) => observe(seconds, { call })),
  },
  anulo_rpc_connections: {
    type: "gauge",
    help: "Open RPC connections.",
    read: ({ server }) => server.connectionCount(),
  },
  anulo_rpc_requests: {
    type: "gauge",
    help: "RPC requests being answered, or waiting for it.",
    labels: ["callers"],
    read: ({ server }) =>
      byLabel(
        "callers",
        server.usage().map(({ callers, requests }) => [callers, requests]),
      ),
  },
  anulo_rpc_held_bytes: {
    type: "gauge",
    help: "Memory that RPC requests and answers take.",
    labels: ["callers"],
    read: ({ server }) =>
      byLabel(
        "callers",
        server.usage().map(({ callers, heldBytes }) => [callers, heldBytes]),
      ),
  },
  anulo_rpc_held_max_bytes: {
    type: "gauge",
    help: "Memory that RPC requests and answers may take.",
    labels: ["callers"],
    read: ({ server }) =>
      byLabel(
        "callers",
        server.usage().map(({ callers, maxHeldBytes }) => [callers, maxHeldBytes]),
      ),
  },
};
