import { openStore } from "../src/open-store.ts";
import { sampleBlock } from "./sample-blocks.ts";

/** Appends blocks until killed or refused; prints each height once it counts as stored. */
const faults: string[] = [];
const onFault = (fault: Error) => void faults.push(fault.message);
const store = await openStore({ path: process.argv[2]!, network: "regtest", onFault });
try {
  for (let height = store.read.height(); height < 50_000; height++) {
    store.write((writer) => writer.appendBlock(sampleBlock(height)));
    await store.settled();
    process.stdout.write(`${height}\n`);
    await new Promise(setImmediate);
  }
} catch (error) {
  process.stderr.write(`${(error as Error).name}: ${faults.join("; ")}\n`);
}
await store.close();
