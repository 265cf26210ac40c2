import type { MigrationProgress } from "@anulo/node";
import { createProgressBar, type ProgressBar } from "./progress.ts";

/** Creates what shows how far the migration of a database is: a line that describes it, then a bar. */
export function createMigrationBar(
  out: { readonly isTTY?: boolean; write(text: string): boolean } = process.stdout,
  now?: () => number,
): (progress: MigrationProgress) => void {
  let bar: ProgressBar | undefined;
  return ({ from, to, done, of }) => {
    if (bar === undefined) {
      out.write(
        `the database is migrated in place, from schema ${from} to ${to}; stopped, it goes on at the next start\n`,
      );
      bar = createProgressBar("migrated", out, now);
    }
    bar.show({ height: done, done: done / Math.max(1, of) });
    if (done < of) return;
    bar.end();
    bar = undefined;
    out.write(`the database has schema ${to} now\n`);
  };
}
