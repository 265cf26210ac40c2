import { after, test } from "node:test";
import {
  type DaemonOptions,
  type Maker,
  type RunningDaemon,
  type RunningWallet,
  realProgramsMissing,
  startDaemon,
  startWallet,
  type WalletOptions,
} from "@anulo/testkit";

export const real: Maker = { kind: "real" };
export const ours: Maker = { kind: "ours" };

const missing = realProgramsMissing();
const running: { stop(): Promise<void> }[] = [];

/** A test that needs the original programs; says so where they are missing. */
export function interop(name: string, run: () => Promise<void>): void {
  test(name, { skip: missing ?? false, timeout: 300_000 }, run);
}

after(async () => {
  for (const program of running.reverse()) await program.stop();
});

/** A node that ends with the tests of this file. */
export async function daemon(maker: Maker, options?: DaemonOptions): Promise<RunningDaemon> {
  const started = await startDaemon(maker, options);
  running.push(started);
  return started;
}

/** A wallet service that ends with the tests of this file. */
export async function wallet(maker: Maker, options?: WalletOptions): Promise<RunningWallet> {
  const started = await startWallet(maker, options);
  running.push(started);
  return started;
}
