import { type Release, realProgramsMissing } from "../programs/releases.ts";
import { createChainFolders } from "./chain-folders.ts";
import { createPlan, type Plan } from "./plan.ts";
import { runNetwork } from "./run.ts";

const usage = `npm run network [-- [--nodes N] [--seed N] [--seeds N] [--blocks N] [--payments N] [--originals N] [--plan]]
  a network of ours and of monerod on addresses of this machine, behind lines that are slow, cut and healed by a
  plan that follows from the seed; then all must have one tip, all payments, and nobody banned or stuck
  --nodes N      how many (20); two of five are monerod
  --seed N       the plan (1)
  --seeds N      so many plans, one after the other (1)
  --blocks N     blocks mined while the network is apart (30)
  --payments N   payments made meanwhile (12)
  --originals N  how many are monerod (two of five)
  --plan         print the plan, and end
ANULO_TODAY_PROGRAMS: the folder of today's release (scripts/todays-programs.sh), which then takes half of their places
`;

const defaults = { nodes: 20, seed: 1, seeds: 1, blocks: 30, payments: 12, originals: 0 };
const print = (text: string) => void process.stdout.write(`${text}\n`);

function numbersOf(args: readonly string[]): typeof defaults {
  const numbers = Object.entries(defaults).map(([name, byDefault]) => {
    const at = args.indexOf(`--${name}`);
    const value = at === -1 ? byDefault : Number(args[at + 1]);
    if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} needs a whole number\n${usage}`);
    return [name, value];
  });
  return Object.fromEntries(numbers) as typeof defaults;
}

function describePlan({ programs, links, steps }: Plan): string {
  const count = (program: string) => programs.filter((one) => one === program).length;
  return `${count("ours")} of ours, ${count("installed")} of monerod as installed, ${count("today")} of today's; ${links.length} lines, ${steps.length} steps`;
}

async function main(args: readonly string[]): Promise<void> {
  if (args.includes("--help")) return print(usage);
  const { seed, seeds, ...options } = numbersOf(args);
  const sizes = { ...options, originals: args.includes("--originals") ? options.originals : undefined };
  const releases: Release[] = (["installed", "today"] as const).filter((release) => {
    const missing = realProgramsMissing([release]);
    if (missing !== undefined) print(`network: without the originals ${release}: ${missing}`);
    return missing === undefined;
  });
  if (args.includes("--plan"))
    return print(JSON.stringify(createPlan({ seed, ...sizes, releases }), undefined, 1));
  const folders = await createChainFolders({ releases });
  let failures = 0;
  try {
    for (let one = seed; one < seed + seeds; one++) {
      const plan = createPlan({ seed: one, ...sizes, releases });
      print(`network: seed ${one}: ${describePlan(plan)}`);
      try {
        const log = (text: string) => print(`network: seed ${one}: ${text}`);
        const report = await runNetwork({ plan, folders, log });
        print(`network: seed ${one} healed: ${JSON.stringify(report)}`);
      } catch (error) {
        failures++;
        print(`network: seed ${one} FAILED: ${error instanceof Error ? error.message : String(error)}`);
        const numbers = Object.entries({ seed: one, ...sizes }).filter(([, value]) => value !== undefined);
        const flags = numbers.map(([name, value]) => `--${name} ${value}`).join(" ");
        print(`network: repeat with npm run network -- ${flags}`);
      }
    }
  } finally {
    folders.remove();
  }
  print(`network: ${seeds} seeds, ${failures} failed`);
  if (failures > 0) process.exitCode = 1;
}

void main(process.argv.slice(2))
  .catch((error: unknown) => {
    process.stderr.write(`network: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  })
  // Whatever a failure left running ends with this process.
  .finally(() => process.exit());
