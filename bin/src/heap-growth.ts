import { setFlagsFromString } from "node:v8";

/** By how many percent the heap of old objects grows before they are collected; with 0, V8 decides, by up to 300. */
const growthPercent = { least: 100, usual: 0 };

/**
 * A sync makes so many objects that live for a while that the heap grows as far as it may: with the least growth one of
 * empty blocks takes up to 50 MiB less and a sixth more of the processor. Lists of transactions then take a sixth longer,
 * so it is for a node that is far behind.
 */
export function setHeapGrowth(growth: keyof typeof growthPercent): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent[growth]}`);
}
