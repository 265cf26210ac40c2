/** A node that fetches a chain whose blocks it knows: `node receiver-process.js DATABASE KNOWN_BLOCKS PEER_PORT`. */
import { readFileSync } from "node:fs";
import { createNode, parseKnownBlocks } from "@anulo/node";

/** What the program does with its engine; taken from where it is built, since no package imports the program. */
interface Engine {
  tuneEngine(): void;
  optimizeInUse(): { readonly onRead: () => void };
  setHeapGrowth(growth: "least" | "usual"): void;
}

const engine: Engine = await import(new URL("../../../../../bin/dist/src/engine.js", import.meta.url).href);
engine.tuneEngine();
engine.setHeapGrowth("least");

const [databasePath, knownBlocks, port] = process.argv.slice(2);
const node = createNode({
  network: "regtest",
  databasePath: databasePath!,
  fixedDifficulty: 1n,
  onRead: engine.optimizeInUse().onRead,
  ...(knownBlocks !== "none" && { knownBlocks: parseKnownBlocks(readFileSync(knownBlocks!)) }),
  peers: {
    nodes: { exclusive: [{ kind: "ipv4", host: "127.0.0.1", port: Number(port) }] },
    allowLocal: true,
    maxPerIp: 100,
    limitUp: 1_000_000,
    limitDown: 1_000_000,
    onSynchronized: () => engine.setHeapGrowth("usual"),
  },
});
await node.start();
process.on("SIGTERM", () => void node.stop());
process.send?.({ url: node.urls[0] });
