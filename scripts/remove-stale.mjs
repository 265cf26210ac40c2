// Removes what earlier builds compiled from sources that are gone: it would be packed, and found by imports that no
// longer compile.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "./sources.mjs";

const compiled = /^(.*?)(?:\.d\.ts|\.js)(?:\.map)?$/;

/** The packages' folders, relative to the root. */
const packages = () => [...readdirSync(join(root, "packages")).map((name) => `packages/${name}`), "bin"];

export function removeStale() {
  for (const folder of packages()) {
    for (const part of ["src", "test"]) {
      const output = join(root, folder, "dist", part);
      if (!existsSync(output)) continue;
      for (const name of readdirSync(output, { recursive: true })) {
        const [, module] = compiled.exec(name) ?? [];
        if (module === undefined || existsSync(join(root, folder, part, `${module}.ts`))) continue;
        rmSync(join(output, name));
      }
    }
  }
}
