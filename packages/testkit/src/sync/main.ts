import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureSync, type SyncReport } from "./measure.ts";
import { type PreparedChain, prepareChain } from "./prepare.ts";

const usage = `npm run sync -- [--blocks N] [--payments M] [--runs R] [--folder FOLDER] [--keep]
  makes up a chain of payments without proofs, and has a node of ours fetch it from another that knows its blocks
  --blocks N       blocks at least (100_000); whole groups of 512 are made
  --payments M     payments of a block, on average (4)
  --runs R         how often it is fetched (1)
  --folder FOLDER  where the chains are kept (the system's temporary folder)
  --keep           keep the made-up chain there, and use the one that is
`;

const print = (text: string) => void process.stdout.write(`${text}\n`);

function numberAfter(args: readonly string[], flag: string, otherwise: number): number {
  const at = args.indexOf(flag);
  if (at === -1) return otherwise;
  const value = Number(args[at + 1]?.replaceAll("_", ""));
  if (!(value >= 0)) throw new Error(`${flag}: not a number: ${args[at + 1]}`);
  return value;
}

function describe({ height, payments }: PreparedChain, report: SyncReport): string {
  const { seconds, cpuSeconds, sourceCpuSeconds, peakMiB, peakOwnMiB, databaseMiB } = report;
  const rate = (count: number) => Math.round(count / seconds);
  return [
    `${height} blocks, ${payments} payments`,
    `${seconds.toFixed(1)} s, ${rate(height)} blocks/s, ${rate(payments)} payments/s`,
    `processor ${cpuSeconds.toFixed(1)} s (sender ${sourceCpuSeconds.toFixed(1)} s)`,
    `memory at most ${peakMiB.toFixed(0)} MiB, of it its own ${peakOwnMiB.toFixed(0)} MiB`,
    `database ${databaseMiB.toFixed(0)} MiB`,
  ].join("; ");
}

async function main(args: readonly string[]): Promise<void> {
  if (args.includes("--help")) return print(usage);
  const at = args.indexOf("--folder");
  const isKept = args.includes("--keep");
  const parent = at === -1 ? tmpdir() : args[at + 1]!;
  const folder = isKept ? join(parent, "anulo-sync") : mkdtempSync(join(parent, "anulo-sync-"));
  try {
    const chain = await prepareChain(folder, {
      blocks: numberAfter(args, "--blocks", 100_000),
      payments: numberAfter(args, "--payments", 4),
      onProgress: (text) => print(`sync: ${text}`),
    });
    for (let run = 0; run < numberAfter(args, "--runs", 1); run++) {
      const target = mkdtempSync(join(parent, "anulo-sync-target-"));
      try {
        const order = { source: folder, target, height: chain.height, knownBlocks: chain.knownBlocks };
        print(`sync: ${describe(chain, await measureSync(order))}`);
      } finally {
        rmSync(target, { recursive: true, force: true });
      }
    }
  } finally {
    if (!isKept) rmSync(folder, { recursive: true, force: true });
  }
}

void main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`sync: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
