import { createNode } from "../src/index.ts";

/** Runs a node on the database named on the command line until it is killed; prints its URL. */
const node = createNode({
  network: "regtest",
  fixedDifficulty: 1n,
  databasePath: process.argv[2],
  verifyThreads: 0,
});
await node.start();
process.stdout.write(`${node.urls[0]}\n`);
