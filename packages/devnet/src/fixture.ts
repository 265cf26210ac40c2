import { startDevnet } from "./devnet.ts";
import type { Devnet, DevnetOptions, UsualNames } from "./options.ts";

/** The hooks of a test runner: each takes a function that it awaits. */
export type Hooks = {
  readonly beforeAll: (hook: () => Promise<void>, timeoutMs?: number) => unknown;
  readonly beforeEach: (hook: () => Promise<void>, timeoutMs?: number) => unknown;
  readonly afterAll: (hook: () => Promise<void>, timeoutMs?: number) => unknown;
};

/** Milliseconds that starting and stopping may take: with the original programs, or beside other work, it is seconds. */
const HOOK_TIMEOUT_MS = 120_000;

/**
 * Starts a devnet before the first test and stops it after the last; before each, everything is again as it was at the
 * start, and no fault lasts. Returns the function that returns it, for use in tests and in their hooks.
 */
export function devnetFixture<const N extends string = UsualNames>(
  { beforeAll, beforeEach, afterAll }: Hooks,
  options: DevnetOptions<N> = {},
): () => Devnet<N> {
  let started: { readonly net: Devnet<N>; readonly start: number } | undefined;
  beforeAll(async () => {
    const net = await startDevnet(options);
    started = { net, start: await net.snapshot() };
  }, HOOK_TIMEOUT_MS);
  beforeEach(async () => {
    if (started === undefined) return;
    const { net, start } = started;
    net.faults.endAll();
    net.autoMine("manual");
    await net.revert(start);
    net.autoMine(options.mining ?? "manual");
  }, HOOK_TIMEOUT_MS);
  afterAll(async () => {
    await started?.net.stop();
    started = undefined;
  }, HOOK_TIMEOUT_MS);
  return () => {
    if (started === undefined) throw new Error("the devnet is there from the first test to the last");
    return started.net;
  };
}
