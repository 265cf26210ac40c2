import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { attacks } from "./attacks/catalogue.ts";
import { describeAll, describeReport, describeWorst } from "./report.ts";
import { openSiege, type Report } from "./run.ts";

const usage = `npm run siege [-- [--only TEXT]... [--short] [--untimed] [--rate N] [--json FILE] [--list] [--entry FILE]]
  attacks a node with a heap of 1 GiB, each attack on a node of its own beside an honest peer
  --only TEXT   attacks whose name has TEXT in it
  --short       smaller and a few seconds each
  --untimed     hold no limit of time: for machines whose cores are busy
  --rate N      requests a second on the owner's port meanwhile (50)
  --json FILE   write all figures there
  --entry FILE  attack another build: its bin/anulo.js (acts that start programs themselves keep to this one)
  --list        say what the attacks are, and end
`;

const print = (text: string) => void process.stdout.write(`${text}\n`);

function valuesAfter(args: readonly string[], flag: string): string[] {
  return args.flatMap((arg, i) => (arg === flag && args[i + 1] !== undefined ? [args[i + 1]!] : []));
}

async function main(args: readonly string[]): Promise<void> {
  if (args.includes("--help")) return print(usage);
  const only = valuesAfter(args, "--only");
  const selection = attacks.filter(
    ({ name }) => only.length === 0 || only.some((text) => name.includes(text)),
  );
  if (selection.length === 0) throw new Error(`no such attack\n${usage}`);
  if (args.includes("--list")) {
    for (const { name, does, stands } of selection) print(`${name}\n    ${does}\n    class: ${stands}`);
    return print(`${selection.length} attacks`);
  }
  const [rate] = valuesAfter(args, "--rate");
  const [entry] = valuesAfter(args, "--entry");
  const siege = await openSiege({
    isShort: args.includes("--short"),
    isTimed: !args.includes("--untimed"),
    ...(rate !== undefined && { perSecond: Number(rate) }),
    ...(entry !== undefined && { entry: resolve(entry) }),
  });
  const reports: Report[] = [];
  try {
    for (const attack of selection) {
      const report = await siege.run(attack);
      reports.push(report);
      print(`siege: ${describeReport(report)}`);
    }
  } finally {
    await siege.close();
  }
  print(`\n${describeAll(reports)}\n\n${describeWorst(reports)}\n`);
  const [file] = valuesAfter(args, "--json");
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(reports, undefined, 2)}\n`);
  const failed = reports.filter(({ failures }) => failures.length > 0);
  print(`siege: ${reports.length} attacks, ${failed.length} did not hold`);
  if (failed.length > 0) process.exitCode = 1;
}

void main(process.argv.slice(2))
  .catch((error: unknown) => {
    process.stderr.write(`siege: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  })
  // Whatever a failure left running ends with this process.
  .finally(() => process.exit());
