import { type RecordedRelease, recordedReleases } from "../fixtures.ts";
import type { Maker } from "../programs/servers.ts";
import { inOrder } from "./in-order.ts";
import { type GoldenStep, goldenGroups, loadRecording } from "./recording.ts";
import { replay } from "./replay.ts";
import { count, describeDifference, summary } from "./report.ts";
import type { StepResult } from "./result.ts";

const usage = `npm run golden [-- [group or part of its name ..] [--method NAME] [--dialect contract|upstream] [--release 0.18.0|0.18.5] [--show] [--real]]
  replays the recordings of the original programs against ours, or (--real) against themselves
  --release   which of them were recorded (0.18.0)
`;

/** Groups replayed at the same time; the original programs need all the memory there is for some steps. */
const atOnce = { ours: 2, real: 1 };

const print = (text: string) => process.stdout.write(`${text}\n`);

type Choice = {
  readonly makers: readonly Maker[];
  readonly release: RecordedRelease;
  readonly groups: readonly string[];
  readonly methods: readonly string[];
  readonly show: boolean;
};

function parseChoice(args: readonly string[]): Choice {
  const valuesAfter = (flag: string) => args.flatMap((it, at) => (args[at - 1] === flag ? [it] : []));
  const dialects = valuesAfter("--dialect") as ("contract" | "upstream")[];
  const real = args.includes("--real");
  const release = recordedReleases.find((it) => it === valuesAfter("--release")[0]) ?? "0.18.0";
  const makers: Maker[] = real
    ? [{ kind: "real", release: release === "0.18.0" ? "installed" : "today" }]
    : (dialects.length > 0 ? dialects : (["upstream", "contract"] as const)).map((dialect) => ({
        kind: "ours",
        dialect,
      }));
  const values = new Set([...dialects, ...valuesAfter("--method"), ...valuesAfter("--release")]);
  const groups = args.filter((it) => !it.startsWith("--") && !values.has(it));
  return { makers, release, groups, methods: valuesAfter("--method"), show: args.includes("--show") };
}

function printDetails(results: readonly StepResult[]): void {
  for (const { step, differences } of results.filter(({ outcome }) => outcome === "differing")) {
    print(`    ${step.to} ${step.id}`);
    for (const difference of differences.slice(0, 6)) print(`      ${describeDifference(difference)}`);
    if (differences.length > 6) print(`      and ${differences.length - 6} more`);
  }
}

function printMethods(results: readonly StepResult[]): void {
  const differing = results.filter(({ outcome }) => outcome === "differing");
  const counts = new Map<string, number>();
  for (const { method } of differing) counts.set(method, (counts.get(method) ?? 0) + 1);
  const listed = [...counts].sort((a, b) => b[1] - a[1]);
  if (listed.length > 0)
    print(`    differing: ${listed.map(([name, times]) => `${name} ${times}`).join(", ")}`);
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help")) {
    print(usage);
    return 0;
  }
  const { makers, release, groups, methods, show } = parseChoice(args);
  const selection = goldenGroups.filter(
    (group) => groups.length === 0 || groups.some((part) => group.includes(part)),
  );
  let differing = 0;
  for (const maker of makers) {
    const all: StepResult[] = [];
    print(maker.kind === "real" ? "the original programs" : `dialect ${maker.dialect}`);
    const isAsked = (step: GoldenStep) =>
      methods.length === 0 || methods.some((it) => step.id.startsWith(it));
    for await (const [group, results] of inOrder(selection, atOnce[maker.kind], (group) =>
      replay(loadRecording(group, release), maker, isAsked),
    )) {
      all.push(...results);
      print(`  ${group.padEnd(18)} ${summary(results)}`);
      if (show) printDetails(results);
      else printMethods(results);
    }
    print(`  ${"all".padEnd(18)} ${summary(all)}`);
    differing += count(all, "differing");
  }
  return differing === 0 ? 0 : 1;
}

// The programs started here end with this process, also on a signal.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
process.exitCode = await main(process.argv.slice(2));
