import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildDatabase } from "./build.ts";
import { measureNode } from "./measure.ts";
import { describeScale, type SizeReport } from "./report.ts";

const usage = `npm run scale -- [--blocks N] [--outputs M] [--folder FOLDER] [--json FILE]
npm run scale -- --report docs/scale.md FILE FILE FILE..
  builds a database of mainnet's shape, runs a node on it and measures what its size costs
  --blocks N       blocks (20_000)
  --outputs M      outputs (40 a block)
  --folder FOLDER  where the database is built, and removed from (the system's temporary folder)
  --json FILE      write the figures there
  --report FILE    write a table of the figures of at least three runs
`;

/** Blocks at the top that have proofs: they are taken off and come back. */
const WHOLE_BLOCKS = 300;
const OUTPUTS_PER_BLOCK = 40;

const print = (text: string) => void process.stdout.write(`${text}\n`);

function valueAfter(args: readonly string[], flag: string): string | undefined {
  const at = args.indexOf(flag);
  return at === -1 ? undefined : args[at + 1];
}

function countAfter(args: readonly string[], flag: string): number | undefined {
  const text = valueAfter(args, flag);
  if (text === undefined) return undefined;
  const count = Number(text.replaceAll("_", ""));
  if (!Number.isSafeInteger(count) || count <= 0) throw new Error(`${flag}: not a number of things: ${text}`);
  return count;
}

async function measureSize(args: readonly string[]): Promise<SizeReport> {
  const blocks = countAfter(args, "--blocks") ?? 20_000;
  const outputsPerBlock = (countAfter(args, "--outputs") ?? OUTPUTS_PER_BLOCK * blocks) / blocks;
  const dataDir = mkdtempSync(join(valueAfter(args, "--folder") ?? tmpdir(), "anulo-scale-"));
  const start = performance.now();
  try {
    mkdirSync(join(dataDir, "regtest"));
    const fileBytes = await buildDatabase({
      path: join(dataDir, "regtest", "chain.mdb"),
      blocks,
      outputsPerBlock,
      wholeFrom: blocks - WHOLE_BLOCKS,
      startTime: Math.floor(Date.now() / 1000) - 120 * (blocks + 100),
      onProgress: ({ blocks: blockCount, sortedRows }) => {
        if (sortedRows > 0 ? sortedRows % 10_000_000 === 0 : blockCount % 50_000 === 0)
          print(`scale: ${blockCount} of ${blocks} blocks, ${sortedRows} sorted rows`);
      },
    });
    const buildSeconds = (performance.now() - start) / 1000;
    const outputs = blocks * (1 + 2 * Math.round((outputsPerBlock - 1) / 2));
    print(`scale: ${blocks} blocks, ${outputs} outputs, ${fileBytes} bytes in ${buildSeconds.toFixed(0)} s`);
    return {
      blocks,
      outputs,
      fileBytes,
      buildSeconds,
      measurements: await measureNode({ dataDir, outputs }),
    };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function main(args: readonly string[]): Promise<void> {
  if (args.includes("--help")) return print(usage);
  const report = args.indexOf("--report");
  if (report !== -1) {
    const sizes = args.slice(report + 2).map((file) => JSON.parse(readFileSync(file, "utf8")) as SizeReport);
    return writeFileSync(args[report + 1]!, describeScale(sizes.sort((a, b) => a.blocks - b.blocks)));
  }
  const size = await measureSize(args);
  for (const { name, unit, value } of size.measurements) print(`${name}: ${value.toFixed(2)} ${unit}`);
  const file = valueAfter(args, "--json");
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(size, undefined, 2)}\n`);
}

void main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`scale: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
