import { after, before, describe } from "node:test";
import type { Backend } from "../src/backend.ts";
import { backend, createBackend, useBackend } from "../src/engine.ts";
import { reference } from "../src/reference/backend.ts";
import { hasFusedMultiplyAdd } from "../src/wasm/kernel.ts";

/** Before every change the slow twin runs only where a kernel is held against it; `npm test` runs all suites on it. */
const isQuick = process.env.ANULO_TESTS === "quick";

/** The backends of this machine. */
export const backends: readonly Backend[] = [
  ...(isQuick ? [] : [reference]),
  createBackend("fallback"),
  ...(hasFusedMultiplyAdd() ? [createBackend("fma")] : []),
];

/** Declares the suite once for every backend and runs it there. */
export function onEachBackend(name: string, suite: (engine: Backend) => void): void {
  for (const engine of backends) {
    describe(`${name} on the ${engine.name} backend`, () => {
      const usual = backend;
      before(() => useBackend(engine));
      after(() => useBackend(usual));
      suite(engine);
    });
  }
}
