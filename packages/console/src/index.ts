import { readFileSync } from "node:fs";
import type { Page, Pages, PageType } from "@anulo/rpc";

/** A file of the console as the build leaves it. */
type BuiltFile = {
  readonly path: string;
  readonly type: PageType;
  readonly isLasting: boolean;
  readonly base64: string;
};

/** The console's files, for a service to serve under `/console`: read once, from one file that the build wrote. */
export function readConsole(): Pages {
  const text = readFileSync(new URL("../console-pages.json", import.meta.url), "utf8");
  const files = JSON.parse(text) as readonly BuiltFile[];
  return new Map(
    files.map(({ path, type, isLasting, base64 }): [string, Page] => [
      path,
      { type, isLasting, body: Buffer.from(base64, "base64") },
    ]),
  );
}
