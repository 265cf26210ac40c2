import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { attacks } from "../siege/attacks/catalogue.ts";
import { type Probed, startControl, startProber } from "../siege/prober.ts";
import { openSiege } from "../siege/run.ts";
import { createLoopWatch, type LoopReport, type LoopWatch } from "./loop-report.ts";
import { type Scene, sceneByName } from "./scenes.ts";

const usage = `npm run load [-- [--only TEXT]... [--rate N] [--short] [--folder FOLDER] [--json FILE]]
  asks a node at a fixed rate while it syncs, reorganises, takes blocks off, and under each attack of a caller
  --only TEXT      what has TEXT in its name
  --rate N         requests a second on the owner's port (1000)
  --short          shorter attacks
  --folder FOLDER  where chains are made (the system's temporary folder)
  --json FILE      write the figures there
`;

/** Milliseconds within which 99 of 100 requests are answered. */
const LIMIT_MS = 100;
const DEFAULT_RATE = 1000;
/** How long the prober takes to open its connections, and how long it asks at least. */
const CONNECTED_MS = 1000;
const LEAST_MS = 3000;

/** What one scene or attack did to the answers. */
interface LoadReport {
  readonly name: string;
  readonly probed: Probed;
  readonly loop: LoopReport | undefined;
}

const print = (text: string) => void process.stdout.write(`${text}\n`);

function valuesAfter(args: readonly string[], flag: string): string[] {
  return args.flatMap((arg, i) => (arg === flag && args[i + 1] !== undefined ? [args[i + 1]!] : []));
}

interface LoadOptions {
  readonly perSecond: number;
  readonly folder: string;
  readonly watch: LoopWatch;
  readonly controlPort: number;
}

async function runScene(name: string, scene: Scene, options: LoadOptions): Promise<LoadReport> {
  const { perSecond, controlPort, watch } = options;
  const node = await scene(options);
  try {
    const prober = startProber({ port: node.port, controlPort, perSecond, method: "get_info" });
    await delay(CONNECTED_MS);
    await watch.report(node.pid);
    await Promise.all([node.work(), delay(LEAST_MS)]);
    const loop = await watch.report(node.pid);
    return { name, probed: await prober.stop(), loop };
  } finally {
    await node.stop();
  }
}

function describe({ name, probed: { node, control }, loop }: LoadReport): string {
  const ms = (value: number) => value.toFixed(1);
  const { count, failures, unanswered } = node;
  const { p99Ms = 0, maxMs = 0, turnP99Ms = 0, turnMaxMs = 0, cores = 0 } = loop ?? {};
  return [
    `load: ${name}: ${isHeld({ name, probed: { node, control }, loop }) ? "holds" : "FAILS"}`,
    `${count} answers, ${failures} failed, ${unanswered} missing`,
    `ms: p50 ${ms(node.p50)}, p99 ${ms(node.p99)}, worst ${ms(node.max)}; an idle process p99 ${ms(control.p99)}`,
    `event loop late: p99 ${ms(p99Ms)}, worst ${ms(maxMs)}; processor time of a turn: p99 ${ms(turnP99Ms)}, worst ${ms(turnMaxMs)}`,
    `main thread ${cores.toFixed(2)} cores`,
  ].join("; ");
}

/** What an idle process beside it waits for is the machine's delay. */
function isHeld({ probed: { node, control } }: LoadReport): boolean {
  return node.failures + node.unanswered === 0 && node.p99 <= LIMIT_MS + control.p99;
}

async function main(args: readonly string[]): Promise<void> {
  if (args.includes("--help")) return print(usage);
  const only = valuesAfter(args, "--only");
  const isChosen = (name: string) => only.length === 0 || only.some((text) => name.includes(text));
  const [rate = String(DEFAULT_RATE)] = valuesAfter(args, "--rate");
  const perSecond = Number(rate);
  const folder = mkdtempSync(join(valuesAfter(args, "--folder")[0] ?? tmpdir(), "anulo-load-"));
  const watch = createLoopWatch(folder);
  const reports: LoadReport[] = [];
  const add = (report: LoadReport) => {
    reports.push(report);
    print(describe(report));
  };
  try {
    const control = await startControl();
    for (const [name, scene] of Object.entries(sceneByName))
      if (isChosen(name))
        add(await runScene(name, scene, { perSecond, folder, watch, controlPort: control.port }));
    control.stop();
    const selection = attacks.filter(({ name, by }) => by === "caller" && isChosen(name));
    if (selection.length > 0) {
      const siege = await openSiege({ isShort: args.includes("--short"), isTimed: false, perSecond, watch });
      for (const attack of selection) {
        const { name, figures, failures } = await siege.run(attack);
        if (figures === undefined) print(`load: ${name}: FAILS; ${failures.join("; ")}`);
        else add({ name, probed: figures.probed, loop: figures.loop });
      }
      await siege.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const [file] = valuesAfter(args, "--json");
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(reports, undefined, 2)}\n`);
  if (!reports.every(isHeld)) process.exitCode = 1;
}

void main(process.argv.slice(2))
  .catch((error: unknown) => {
    process.stderr.write(
      `load: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exitCode = 1;
  })
  // Whatever a failure left running ends with this process.
  .finally(() => process.exit());
