/** A process of its own, whose file operations are watched from before the services are loaded. */
import { createChance } from "../chance.ts";
import type { Hooks } from "./node-cuts.ts";
import { watchFiles } from "./watch-files.ts";

const [service, folder, seed, count] = process.argv.slice(2) as [string, string, string, string];

const hooks: Hooks = { beginSync: () => () => {}, onOperation: () => {}, bootId: undefined };
watchFiles({
  beginSync: (file) => hooks.beginSync(file),
  onOperation: (operation, file) => hooks.onOperation(operation, file),
  bootId: () => hooks.bootId,
});

const options = {
  folder,
  chance: createChance(seed),
  count: Number(count),
  onProgress: (cuts: number) => process.send?.({ cuts }),
};

async function run(): Promise<number> {
  if (service === "node") return await (await import("./node-cuts.ts")).runNodeCuts(options, hooks);
  return await (await import("./wallet-cuts.ts")).runWalletCuts(options, hooks);
}

try {
  process.send?.({ done: await run() });
  process.exit(0);
} catch (error) {
  const failed = error instanceof Error ? error.message : String(error);
  process.send?.({ failed }, undefined, undefined, () => process.exit(1));
}
