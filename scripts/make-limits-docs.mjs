// Writes docs/limits.md: what strangers may cost, from the declarations of messages and calls; needs a build.
// --check: writes nothing and fails when the file is out of date.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { rpcLimits } from "./rpc-limits.mjs";
import { root } from "./sources.mjs";

const load = (file) => import(pathToFileURL(join(root, "packages", file)).href);

const units = [
  [1024 * 1024, "MiB"],
  [1024, "KiB"],
  [1, "B"],
];

function bytes(count) {
  if (count === 0) return "–";
  const [size, name] = units.find(([unit]) => count >= unit);
  return `${Number((count / size).toFixed(1))} ${name}`;
}

const number = (count) => (count === 0 ? "–" : count.toLocaleString("en-US"));
const percent = (share) => `${100 * share} %`;
const table = (heads, rows) =>
  [heads, heads.map((_, i) => (i === 0 ? "---" : "--:")), ...rows]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n");
const columns = ["longest request", "memory of its values", "rows", "longest response"];
const cells = ({ requestBytes, memoryBytes, rows, responseBytes }) => [
  bytes(requestBytes),
  bytes(memoryBytes),
  number(rows),
  bytes(responseBytes),
];

/** What peers may send. */
async function peerSection() {
  const { peerCommands, sharedLimits } = await load("p2p/dist/src/index.js");
  const { messages } = await load("node/dist/src/peers/messages.js");
  const commands = Object.values(peerCommands).filter((it) => it.cost !== undefined);
  const declared = [...commands, ...Object.values(messages)].sort((a, b) => a.id - b.id);
  const { memory, work } = sharedLimits;
  return [
    "## Messages of peers",
    "",
    table(
      ["Message", ...columns],
      declared.map(({ id, name, cost }) => [`${id} ${name}`, ...cells(cost)]),
    ),
    "",
    "A longer payload closes the connection at its header, before it is read. Values that nobody declared are not built. Requests and notifications that are not in the table are read over where they are short, and close the connection where they are not.",
    "",
    table(
      ["All messages", "all peers together", "one peer"],
      [
        ["memory held", bytes(memory.allPeersBytes), bytes(memory.onePeerBytes)],
        [
          "of it, only for peers that hold little",
          bytes(memory.smallHoldersBytes),
          bytes(memory.smallHolderBytes),
        ],
        [
          "event loop, with proofs that other threads check",
          percent(work.allPeers.share),
          `${percent(work.onePeer.share)} before others`,
        ],
        ["sent and not read, before another response", "–", bytes(memory.unreadBytes)],
      ],
    ),
  ].join("\n");
}

/** What subscribers of ZeroMQ may cost. */
async function publisherSection() {
  const { zmqLimits } = await load("rpc/dist/src/index.js");
  const { newsLimits } = await load("node/dist/src/index.js");
  const { receivedFrames, subscriptions } = zmqLimits;
  return [
    "## Subscribers of ZeroMQ",
    "",
    table(
      ["Limit", ""],
      [
        ["Connections", number(zmqLimits.connections)],
        ["The same of one IP address, loopback excepted", number(zmqLimits.connectionsPerAddress)],
        ["Time for the handshake", `${zmqLimits.handshakeMs / 1000} s`],
        ["Longest frame of a subscriber", bytes(zmqLimits.receivedFrameBytes)],
        ["Frames of a subscriber at once", number(receivedFrames.burst)],
        ["and more each second", number(receivedFrames.perSecond)],
        ["Subscriptions of a connection", number(subscriptions.count)],
        ["Their length together", bytes(subscriptions.bytes)],
        ["Sent to a subscriber and not read, with the next message", bytes(zmqLimits.unreadBytes)],
        ["Time without reading while something waits", `${zmqLimits.stalledMs / 1000} s`],
        ["Blocks and payments in news that are not written yet", bytes(newsLimits.waitingBytes)],
      ],
    ),
    "",
    "A message is held once for all its subscribers; one longer than the limit is sent to those for whom nothing else waits. Where there is no room for another connection, the oldest one without subscriptions is closed. Where too many news wait to be written, all subscribers are disconnected.",
  ].join("\n");
}

const intro = [
  "# Limits",
  "",
  "What one message of a peer or one call may cost at most, as declared beside it. Made by `scripts/make-limits-docs.mjs`.",
].join("\n");
const sections = [await peerSection(), await publisherSection(), await rpcLimits()];
const text = `${[intro, ...sections].join("\n\n")}\n`;
const file = join(root, "docs", "limits.md");
if (process.argv.includes("--check")) {
  const isCurrent = existsSync(file) && readFileSync(file, "utf8") === text;
  if (!isCurrent) console.error("make-limits-docs: docs/limits.md is out of date");
  process.exit(isCurrent ? 0 : 1);
}
writeFileSync(file, text);
