import type { Backend } from "./backend.ts";
import { reference } from "./reference/backend.ts";
import { createWasmBackend } from "./wasm/backend.ts";
import { hasFusedMultiplyAdd } from "./wasm/kernel.ts";

/** The backend every public function of the package runs on. */
export let backend: Backend = createBackend(process.env.ANULO_CRYPTO);

/** Puts another backend in place, for the whole process: the test suites run on each in turn. */
export function useBackend(newBackend: Backend): void {
  backend = newBackend;
}

/**
 * The fastest backend of this machine, or the one named ("fma", "fallback", "reference"); throws `RangeError` on
 * another name, and on "fma" where multiply-add is not fused: it would compute wrong results.
 */
export function createBackend(name?: string): Backend {
  switch (name) {
    case undefined:
    case "":
      return createWasmBackend(hasFusedMultiplyAdd() ? "fma" : "fallback");
    case "reference":
      return reference;
    case "fallback":
      return createWasmBackend("fallback");
    case "fma":
      if (!hasFusedMultiplyAdd()) throw new RangeError("this processor has no fused multiply-add");
      return createWasmBackend("fma");
    default:
      throw new RangeError(`no crypto backend is called ${JSON.stringify(name)}`);
  }
}
