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
  const hash = (data: Uint8Array, into: Kernel["keccak256"]): Uint8Array => {
    memory.begin();
    try {
      const out = memory.room(32);
      into(out, memory.put(data), data.length);
      return memory.read(out, 32);
    } finally {
      kernel.wipeHash();
    }
  };
  return {
    name,
    keccak256: (data) => hash(data, kernel.keccak256),
    hashToScalar: (data) => hash(data, kernel.hashToScalar),
    keccakAbsorb(state, blocks) {
      memory.begin();
      try {
        const at = memory.put(state);
        kernel.absorb(at, memory.put(blocks), blocks.length);
        state.set(memory.read(at, state.length));
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
