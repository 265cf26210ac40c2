import type { Counter, Gauge, Registry } from "prom-client";
import type { MetricTable, ReadMetric } from "./declare.ts";

/** Names under which prom-client reports process, heap, garbage collection and event loop. */
const PROCESS_PREFIX = "anulo_";

type Library = typeof import("prom-client");

/** Writes all metrics of a service in the text format of Prometheus. */
export interface MetricRegistry {
  /** Content type of the text. */
  readonly type: string;
  text(): Promise<string>;
}

/** Registers the declared metrics and those of the process; the library is loaded here, by services that need it. */
export async function createRegistry<Source>(
  table: MetricTable<Source>,
  source: Source,
): Promise<MetricRegistry> {
  const library = (await import("prom-client")).default;
  const registry = new library.Registry();
  library.collectDefaultMetrics({ register: registry, prefix: PROCESS_PREFIX });
  for (const [name, metric] of Object.entries(table)) {
    const labelNames = [...(metric.labels ?? [])];
    const shared = { name, help: metric.help, labelNames, registers: [registry] };
    if (metric.type === "histogram") {
      const histogram = new library.Histogram({ ...shared, buckets: [...metric.buckets] });
      metric.follow(source, (value, labels) => histogram.observe(labels, value));
    } else registerRead(library, shared, { metric, source });
  }
  return { type: registry.contentType, text: () => registry.metrics() };
}

interface Shared {
  readonly name: string;
  readonly help: string;
  readonly labelNames: string[];
  readonly registers: Registry[];
}

/** What a metric is read from is the truth: its earlier values are dropped at each collection. */
function registerRead<Source>(
  { Gauge, Counter }: Library,
  shared: Shared,
  { metric, source }: { readonly metric: ReadMetric<Source>; readonly source: Source },
): void {
  const collect = (own: Gauge | Counter) => {
    own.reset();
    const reading = metric.read(source);
    if (reading === undefined) {
      // Without labels the reset has left a 0.
      if (shared.labelNames.length === 0) own.remove();
      return;
    }
    const samples = typeof reading === "number" ? [{ labels: {}, value: reading }] : reading;
    for (const { labels, value } of samples) own.inc(labels, value);
  };
  if (metric.type === "gauge") {
    new Gauge({
      ...shared,
      collect() {
        collect(this);
      },
    });
  } else {
    new Counter({
      ...shared,
      collect() {
        collect(this);
      },
    });
  }
}

/** Names and labels of the metrics that prom-client adds about the process. */
export async function processMetrics(): Promise<readonly (readonly [string, readonly string[]])[]> {
  const library = (await import("prom-client")).default;
  const registry = new library.Registry();
  library.collectDefaultMetrics({ register: registry, prefix: PROCESS_PREFIX });
  return registry
    .getMetricsAsArray()
    .map((metric) => [metric.name, "labelNames" in metric ? (metric.labelNames as string[]) : []] as const);
}
