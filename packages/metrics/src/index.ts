export {
  byLabel,
  type Labels,
  type Metric,
  type MetricTable,
  type Reading,
  type Sample,
} from "./declare.ts";
export type { ReadinessCheck, ReadinessChecks, ReadinessOptions } from "./readiness.ts";
export { processMetrics } from "./registry.ts";
export {
  type MetricsServer,
  type MetricsServerOptions,
  serverMetrics,
  startMetricsServer,
} from "./server.ts";
