import { devnetFixture, type Hooks } from "./fixture.ts";
import type { Devnet, DevnetOptions, UsualNames } from "./options.ts";

// Whoever imports this has it; a name the compiler does not look up keeps this package from depending on it.
const runner: string = "vitest";
const hooks = (await import(runner)) as Hooks;

/** A devnet for the tests of a file or suite of Vitest, as it was at the start before each of them. */
export function useDevnet<const N extends string = UsualNames>(options?: DevnetOptions<N>): () => Devnet<N> {
  return devnetFixture(hooks, options);
}
