import { DamagedDatabase } from "../../packages/storage/dist/src/damage.js";
import * as layout from "../../packages/storage/dist/src/layout.js";
import { tables } from "../../packages/storage/dist/src/tables.js";

const sizes = [0, 1, 4, 8, 16, 32, 40, 48, 72, 92, 100, 113, 117, 129, 200];
const refusals = [DamagedDatabase, layout.CorruptRecord].filter((it) => it !== undefined);

export const targets = {
  "database-rows": {
    seeds: () => sizes.map((size) => new Uint8Array(size).fill(1)),
    run(input) {
      for (const { key, value } of Object.values(tables)) {
        for (const field of [key, value]) {
          try {
            layout.readRecord(field, input);
          } catch (error) {
            if (!refusals.some((refusal) => error instanceof refusal)) throw error;
          }
        }
      }
    },
  },
};
