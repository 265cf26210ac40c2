/** What the database says of how it is pruned. */

import { DamagedDatabase } from "./damage.ts";
import type { Snapshot } from "./database-file.ts";
import type { Tables } from "./environment.ts";

export const seedName = "pruningSeed";
export const heightName = "prunedHeight";

/** A number kept among the properties; 0 where there is none. */
export function readPruning(tables: Tables, name: "seed" | "height", at?: Snapshot): number {
  const bytes = tables.properties.get(name === "seed" ? seedName : heightName, at);
  if (bytes === undefined) return 0;
  if (bytes.length !== 4) throw new DamagedDatabase("a property about pruning is not a number");
  return Buffer.from(bytes.buffer, bytes.byteOffset, 4).readUInt32BE();
}
