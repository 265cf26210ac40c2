/** Values of a metric's labels; each label has few values that callers cannot choose. */
export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** One number, or one for each set of labels; undefined where there is none to report. */
export type Reading = number | readonly Sample[] | undefined;

/** A number that is read from `Source` whenever metrics are collected, in constant time or nearly. */
export interface ReadMetric<Source> {
  /** A gauge goes up and down, a counter only up. */
  readonly type: "gauge" | "counter";
  readonly help: string;
  readonly labels?: readonly string[];
  readonly read: (source: Source) => Reading;
}

/** Durations or sizes, each counted in the first bucket that it does not exceed. */
export interface HistogramMetric<Source> {
  readonly type: "histogram";
  readonly help: string;
  readonly labels?: readonly string[];
  /** Upper limits of the buckets, ascending. */
  readonly buckets: readonly number[];
  /** Has `observe` called with every value from now on. */
  readonly follow: (source: Source, observe: (value: number, labels: Labels) => void) => void;
}

export type Metric<Source> = ReadMetric<Source> | HistogramMetric<Source>;

/** Every metric of a service, by its name. */
export type MetricTable<Source> = { readonly [name: string]: Metric<Source> };

/** The samples of a counter that is kept as a map from the value of its only label. */
export function byLabel(label: string, counts: Iterable<readonly [string, number]>): Sample[] {
  return Array.from(counts, ([name, value]) => ({ labels: { [label]: name }, value }));
}
