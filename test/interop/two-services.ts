/** Both programs' wallet services beside each other, and wallet files that go from one to the other. */
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@anulo/rpc";
import { call, type ExactObject, type RunningWallet, startWallet } from "@anulo/testkit";
import { createRuntime, readKeysFile, writeKeysFile } from "@anulo/wallet";
import { makerOf, type Side } from "../actors.ts";

export const sides = ["ours", "real"] as const satisfies Side[];

export type Ask = (method: string, params?: ExactObject) => Promise<ExactObject>;
export const asking =
  ({ url }: RunningWallet): Ask =>
  (method, params = {}) =>
    call(url, method, params);

const runtime = createRuntime();

/** Takes a wallet's keys file along, and the original's cache as it stands beside it. */
export function carry(from: RunningWallet, to: RunningWallet, filename: string): void {
  copyFileSync(join(from.walletDir, `${filename}.keys`), join(to.walletDir, `${filename}.keys`));
  const cache = join(from.walletDir, filename);
  if (existsSync(cache)) copyFileSync(cache, join(to.walletDir, filename));
  else rmSync(join(to.walletDir, filename), { force: true });
}

/** A service for each program with these flags, stopped afterwards. */
export async function withServices(
  options: { readonly daemonPort?: number; readonly extra?: readonly string[] },
  play: (services: Record<Side, RunningWallet>) => Promise<void>,
): Promise<void> {
  const started: Partial<Record<Side, RunningWallet>> = {};
  try {
    for (const side of sides) started[side] = await startWallet(makerOf(side, "upstream"), options);
    await play(started as Record<Side, RunningWallet>);
  } finally {
    for (const service of Object.values(started)) await service.stop();
  }
}

/** A keys file of the original with some settings changed, as its command line wallet would. */
export async function changeSettings(
  service: Pick<RunningWallet, "walletDir">,
  filename: string,
  changes: Record<string, Json>,
) {
  const path = join(service.walletDir, `${filename}.keys`);
  const { cacheKey: _, ...file } = await readKeysFile(readFileSync(path), { ...runtime, password: "" });
  const settings = new Map([...file.settings, ...Object.entries(changes)]);
  writeFileSync(path, await writeKeysFile({ ...file, settings }, { ...runtime, password: "" }));
}
