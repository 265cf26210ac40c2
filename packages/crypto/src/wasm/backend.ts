import type { Backend } from "../backend.ts";
import { reference } from "../reference/backend.ts";
import { type KernelName, loadKernel } from "./kernel.ts";
import { createMemory } from "./memory.ts";
import { createPointFunctions } from "./points.ts";
import { createScalarOps, createVectorOps } from "./scalars.ts";
import { createScanFunctions } from "./scan.ts";

/** The backend over one instance of a kernel. Not yet in the kernel: what is taken from the twin. */
export function createWasmBackend(name: KernelName): Backend {
  const kernel = loadKernel(name);
  const memory = createMemory(kernel);
  return {
    ...reference,
    name,
    keccak256(data) {
      memory.begin();
      try {
        const out = memory.room(32);
        kernel.keccak256(out, memory.put(data), data.length);
        return memory.read(out, 32);
      } finally {
        kernel.wipeHash();
      }
    },
    scalar: createScalarOps(kernel, memory),
    vector: createVectorOps(kernel, memory),
    ...createPointFunctions(kernel, memory),
    ...createScanFunctions(kernel, memory),
  };
}
