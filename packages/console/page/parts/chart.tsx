import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";

export type ChartProps = {
  readonly title: string;
  /** What the chart shows in one sentence, for those who do not see it. */
  readonly summary: string;
  readonly x: readonly number[];
  readonly y: readonly number[];
  /** A value as its axis names it. */
  readonly format: (value: number) => string;
  /** Bars for what is counted by itself, a line for what goes on. */
  readonly kind: "bars" | "line";
};

const HEIGHT = 132;

function colours() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: colour("--muted"),
    grid: colour("--line"),
    mark: colour("--mark"),
    fill: colour("--mark-fill"),
  };
}

function optionsOf({ kind, format }: ChartProps, width: number): UPlot.Options {
  const { ink, grid, mark, fill } = colours();
  const font = "11px system-ui, sans-serif";
  const axis = { stroke: ink, font, ticks: { show: false }, grid: { stroke: grid, width: 1 } };
  const bars = UPlot.paths.bars?.({ size: [0.7, 24] });
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 8, 0, 0],
    scales: { x: { time: false }, y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: [
      { ...axis, size: 24, space: 64, grid: { show: false }, incrs: [1, 2, 5, 10, 20, 50, 100] },
      { ...axis, size: 52, space: 32, values: (_plot, values) => values.map(format) },
    ],
    series: [
      {},
      {
        stroke: mark,
        fill,
        width: kind === "bars" ? 0 : 1.5,
        points: { show: false },
        ...(kind === "bars" && bars !== undefined && { paths: bars, fill: mark }),
      },
    ],
  };
}

/** A chart by height; drawn anew when the colours or the width of the page change. */
export function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const { x, y, title, summary } = props;
  useEffect(() => {
    const element = place.current!;
    let plot: UPlot | undefined;
    const draw = () => {
      plot?.destroy();
      plot = new UPlot(optionsOf(props, element.clientWidth), [[...x], [...y]], element);
    };
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    addEventListener("themechange", draw);
    return () => {
      observer.disconnect();
      dark.removeEventListener("change", draw);
      removeEventListener("themechange", draw);
      plot?.destroy();
    };
  }, [x.join(), y.join()]);
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <div class="chart" ref={place} role="img" aria-label={`${title}: ${summary}`} />
    </figure>
  );
}
