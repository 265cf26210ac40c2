/** Appends 1, 2, 3 … to the journal named on the command line and prints each on its own line once it is stored. */
import { Journal } from "../src/file/journal.ts";

const path = process.argv[2];
if (path === undefined) throw new Error("name the journal to append to");
const journal = await Journal.create(path, new Uint8Array(32).fill(7), [new TextEncoder().encode("0")]);
for (let i = 1; ; i++) {
  await journal.append(new TextEncoder().encode(String(i)));
  process.stdout.write(`${i}\n`);
}
