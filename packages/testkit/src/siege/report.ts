import type { Report } from "./run.ts";

const WORST = 20;

function pad(cells: readonly string[], widths: readonly number[]): string {
  return cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join("  ");
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) => pad(row, widths).trimEnd()).join("\n");
}

const heading = ["attack", "", "MiB", "p50", "p99", "worst", "idle p99", "block", "cores", "attackers"];

function cells({ name, failures, figures, remark, seconds }: Report): string[] {
  const verdict = failures.length === 0 ? "holds" : "FAILS";
  if (figures === undefined)
    return [name, verdict, "", "", "", "", "", "", `${seconds.toFixed(0)} s`, remark ?? ""];
  const { probed, honest, attackers } = figures;
  const { opened, stillThere, refused, banned } = attackers;
  return [
    name,
    verdict,
    `+${(figures.peakMiB - figures.idleMiB).toFixed(0)}`,
    ...[probed.node.p50, probed.node.p99, probed.node.max, probed.control.p99].map((ms) => ms.toFixed(1)),
    `${honest.worstArrivalMs.toFixed(0)} (${honest.arrived}/${honest.mined})`,
    figures.cores.toFixed(2),
    `${opened}, ${stillThere} stay, ${refused} refused, ${banned} banned`,
  ];
}

/** One line of an attack that has just ended. */
export function describeReport(report: Report): string {
  const failures = report.failures.map((text) => `\n    ${text}`).join("");
  return `${cells(report)
    .filter((cell) => cell !== "")
    .join("  ")}${failures}`;
}

/** A row an attack: MiB above idle, milliseconds of get_info and of honest blocks, cores of the node. */
export const describeAll = (reports: readonly Report[]) => table([heading, ...reports.map(cells)]);

/** The figures nearest to, or beyond, their limits. */
export function describeWorst(reports: readonly Report[]): string {
  const all = reports.flatMap(({ name, used }) => used.map((figure) => ({ name, ...figure })));
  const worst = all.sort((a, b) => b.share - a.share).slice(0, WORST);
  const percent = (share: number) => `${(100 * share).toFixed(0)} %`;
  return table([
    ["attack", "figure", "value", "of its limit"],
    ...worst.map(({ name, what, text, share }) => [name, what, text, percent(share)]),
  ]);
}
