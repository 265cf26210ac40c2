import { openStore } from "../src/chain-store.ts";
import { sampleBlock } from "./sample-blocks.ts";

/** Appends blocks until killed; prints each height once it is on disk. */
const store = await openStore({ path: process.argv[2]!, network: "regtest" });
for (let height = store.read.height(); height < 5000; height++) {
  store.write((writer) => writer.appendBlock(sampleBlock(height)));
  process.stdout.write(`${height}\n`);
  await new Promise(setImmediate);
}
