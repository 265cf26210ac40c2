import type { Backend } from "./backend.ts";
import { reference } from "./reference/backend.ts";

/** The backend every public function of the package runs on. */
export let backend: Backend = reference;

/** Puts another backend in place, for the whole process: the test suites run on each in turn. */
export function useBackend(chosen: Backend): void {
  backend = chosen;
}
