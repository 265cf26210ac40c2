import type { Measurement } from "./measure.ts";

/** What one run of the script found. */
export interface SizeReport {
  readonly blocks: number;
  readonly outputs: number;
  readonly fileBytes: number;
  readonly buildSeconds: number;
  readonly measurements: readonly Measurement[];
}

/** Mainnet, in 2026. */
const MAINNET = { blocks: 3_800_000, outputs: 150_000_000 };

/** The line through some points that leaves the least squares. */
function fitLine(points: readonly (readonly [number, number])[]): { base: number; slope: number } {
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / (spread || 1);
  return { base: meanY - slope * meanX, slope };
}

function format(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}

function rowOf(name: string, unit: string, sizes: readonly SizeReport[], values: readonly number[]): string {
  const { base, slope } = fitLine(sizes.map(({ blocks }, i) => [blocks, values[i]!] as const));
  const atMainnet = Math.max(0, base + slope * MAINNET.blocks);
  const growth = values.at(-1)! / Math.max(values[0]!, 1e-9);
  const cells = [...values.map(format), format(growth), format(atMainnet)];
  return `| ${name}, ${unit} | ${cells.join(" | ")} |`;
}

/** The text of docs/scale.md for at least three sizes, smallest first. Throws RangeError for fewer. */
export function describeScale(sizes: readonly SizeReport[]): string {
  if (sizes.length < 3) throw new RangeError("a line is fitted through three sizes at least");
  const [first] = sizes;
  const heads = sizes.map(({ blocks }) => blocks.toLocaleString("en"));
  const valuesOf = (name: string, unit: string) =>
    sizes.map(
      ({ measurements }) =>
        measurements.find((each) => each.name === name && each.unit === unit)?.value ?? Number.NaN,
    );
  const rows = [
    rowOf(
      "outputs",
      "millions",
      sizes,
      sizes.map(({ outputs }) => outputs / 1e6),
    ),
    rowOf(
      "database file",
      "GB",
      sizes,
      sizes.map(({ fileBytes }) => fileBytes / 1e9),
    ),
    ...first!.measurements.map(({ name, unit }) => rowOf(name, unit, sizes, valuesOf(name, unit))),
  ];
  return `# What grows with the chain

Made by \`npm run scale -- --report docs/scale.md FILE..\` from ${sizes.length} runs of \`npm run scale\`; do not edit.

The chains are made up, with rows of the sizes that mainnet's have, keys as random as there, written in the order of their keys, and without proofs save in the newest blocks. A node of ours runs on each. The last column is the line of least squares through the sizes, at ${MAINNET.blocks.toLocaleString("en")} blocks; the one before it is the largest size against the smallest. Figures of one machine and moment: only their growth says something. What is asked many times is the quickest of the answers, and what takes long is also given as processor time of all threads: other programs take their share of the machine.

What grows with the chain: the file; the first output distribution after a start, for which each block is read once, and its later answers by the bytes of a block in them (one for wallets, eight in JSON); pruning, which looks at each transaction; and the pages of the file that the system keeps. Nothing else may. What is done once and not told as processor time also shows what else the machine did then.

"Disk writes of an idle day" counts what the system wrote for blocks that came a second and a half apart, times 720. "Calls of a transfer" are the fee estimate, the output distribution, two rings and a look at key images. Memory is what the process has for itself; pages of the database that the system keeps in its memory for the process are counted in the next row, and given back when others need them. Random rows of a file that is longer than the machine's memory come from its disk.

| blocks | ${heads.join(" | ")} | growth | mainnet |
|---|${"--:|".repeat(sizes.length + 2)}
${rows.join("\n")}
`;
}
