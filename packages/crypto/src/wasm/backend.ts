import type { Backend } from "../backend.ts";
import { type Kernel, type KernelName, loadKernel } from "./kernel.ts";
import { createMemory } from "./memory.ts";
import { createMultiexpFunctions } from "./multiexp.ts";
import { createPointFunctions } from "./points.ts";
import { createRingctFunctions } from "./ringct.ts";
import { createScalarOps, createVectorOps } from "./scalars.ts";
import { createScanFunctions } from "./scan.ts";

/** The backend over one instance of a kernel. */
export function createWasmBackend(name: KernelName, kernel: Kernel = loadKernel(name)): Backend {
  const memory = createMemory(kernel);
  return {
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
    ...createMultiexpFunctions(kernel, memory),
    ...createScanFunctions(kernel, memory),
    ...createRingctFunctions(kernel, memory),
  };
}
