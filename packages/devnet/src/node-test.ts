import { after, before, beforeEach } from "node:test";
import { devnetFixture, type Hooks } from "./fixture.ts";
import type { Devnet, DevnetOptions, UsualNames } from "./options.ts";

const inMs = (timeout: number | undefined) => (timeout === undefined ? {} : { timeout });

const hooks: Hooks = {
  beforeAll: (hook, timeoutMs) => before(hook, inMs(timeoutMs)),
  beforeEach: (hook, timeoutMs) => beforeEach(hook, inMs(timeoutMs)),
  afterAll: (hook, timeoutMs) => after(hook, inMs(timeoutMs)),
};

/** A devnet for the tests of a file or suite of node:test, as it was at the start before each of them. */
export function useDevnet<const N extends string = UsualNames>(options?: DevnetOptions<N>): () => Devnet<N> {
  return devnetFixture(hooks, options);
}
