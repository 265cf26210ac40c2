import type { Table } from "../src/index.ts";
import { bytes } from "./harness.ts";

export const WALLETS = 4;
export const ROWS = 20;
export const generations: Table = { number: 1 };
export const secrets: Table = { number: 2, isSecret: true };
export const tables = [generations, secrets];
export const wrappingKey = Buffer.alloc(32, 5);

/** The secret row that comes with a generation, and the one that goes. */
export const keysOfGeneration = (generation: number) => ({
  now: bytes(`of ${generation}`),
  before: bytes(`of ${generation - 1}`),
});
