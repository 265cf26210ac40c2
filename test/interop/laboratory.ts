import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

export type Attempt = { readonly name: string; readonly blob: string };

/** A chain and what no honest program would put on top of it. Bytes are hex. */
export type Laboratory = {
  readonly blocks: readonly { readonly block: string; readonly transactions: readonly string[] }[];
  /** To put into the pool before the attempts. */
  readonly poolTransaction: string;
  readonly transactions: readonly Attempt[];
  readonly blockCases: readonly Attempt[];
};

/** The mutations on which the rules of the consensus package are tested. */
export function loadLaboratory(): Laboratory {
  const file = new URL("../../../packages/consensus/test/fixtures/laboratory.json.gz", import.meta.url);
  return JSON.parse(gunzipSync(readFileSync(file)).toString()) as Laboratory;
}
