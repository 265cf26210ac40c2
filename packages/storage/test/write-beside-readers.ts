import assert from "node:assert/strict";
import type { Snapshot } from "../src/database-file.ts";
import { openEnvironment } from "../src/environment.ts";
import { bytesOf } from "./sample-blocks.ts";
import { waitingTransaction } from "./waiting-transaction.ts";

/**
 * Writes short rows and long ones in turn while up to four readers see earlier moments: a long row wants pages side by
 * side, for which the list of free pages is searched to its end.
 */
const COMMITS = 200;
const READERS = 4;
const SHORT_BYTES = 400;
const LONG_BYTES = 60_000;
const bytesOfCommit = (commit: number) => (commit % 2 === 0 ? SHORT_BYTES : LONG_BYTES);
const keyOf = (commit: number) => bytesOf(`beside readers ${commit}`);

const { root, tables } = openEnvironment(process.argv[2]!);
const readers: Snapshot[] = [];
for (let commit = 0; commit < COMMITS; commit++) {
  readers.push(root.useReadTransaction());
  if (readers.length > READERS) readers.shift()!.done();
  const row = waitingTransaction(bytesOfCommit(commit));
  root.transactionSync(() => tables.poolTransactions.put(keyOf(commit), row));
}
for (const reader of readers) reader.done();
for (let commit = 0; commit < COMMITS; commit++) {
  assert.equal(tables.poolTransactions.get(keyOf(commit))?.blob.length, bytesOfCommit(commit));
}
await root.close();
