/** The state of pruning that is stored in the database. */

import { DamagedDatabase } from "./damage.ts";
import type { Snapshot } from "./database-file.ts";
import type { Tables } from "./environment.ts";

export const seedName = "pruningSeed";
export const heightName = "prunedHeight";

/** Reads a number from the properties; 0 if there is none. */
export function readPruning(tables: Tables, name: "seed" | "height", at?: Snapshot): number {
  const bytes = tables.properties.get(name === "seed" ? seedName : heightName, at);
  if (bytes === undefined) return 0;
  if (bytes.length !== 4) throw new DamagedDatabase("a property about pruning is not a number");
  return Buffer.from(bytes.buffer, bytes.byteOffset, 4).readUInt32BE();
}
