/** A node that fetches a chain whose blocks it knows: `node receiver-process.js DATABASE KNOWN_BLOCKS PEER_PORT`. */
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { createNode, parseKnownBlocks } from "@anulo/node";

// As the program does.
setFlagsFromString("--semi-space-growth-factor=1");

const [databasePath, knownBlocks, port] = process.argv.slice(2);
const node = createNode({
  network: "regtest",
  databasePath: databasePath!,
  fixedDifficulty: 1n,
  ...(knownBlocks !== "none" && { knownBlocks: parseKnownBlocks(readFileSync(knownBlocks!)) }),
  peers: {
    nodes: { exclusive: [{ kind: "ipv4", host: "127.0.0.1", port: Number(port) }] },
    allowLocal: true,
    maxPerIp: 100,
    limitUp: 1_000_000,
    limitDown: 1_000_000,
  },
});
await node.start();
process.on("SIGTERM", () => void node.stop());
process.send?.({ url: node.urls[0] });
