// The part of docs/limits.md about callers, from the declarations of the calls and the limits of ports; needs a build.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { services } from "./rpc-services.mjs";
import { root } from "./sources.mjs";

const { byteCosts, defaultLimits, divideLimits, isExpensive } = await import(
  pathToFileURL(join(root, "packages/rpc/dist/src/index.js")).href
);

function bytes(count) {
  if (!Number.isFinite(count)) return "no limit";
  const [unit, name] =
    count >= 2 ** 20 ? [2 ** 20, "MiB"] : count >= 2 ** 10 ? [2 ** 10, "KiB"] : [1, "bytes"];
  return `${Number((count / unit).toFixed(1))} ${name}`;
}

const number = (count) => (Number.isFinite(count) ? count.toLocaleString("en") : "no limit");
const percent = (share) => (Number.isFinite(share) ? `${100 * share} %` : "no limit");
const seconds = (milliseconds) => `${milliseconds / 1000} s`;

/** What each limit of a port means, and how its value is shown. */
const limits = {
  requestBytes: ["Body of a request (64 MiB in the wallet service)", bytes],
  requestMemoryBytes: ["Memory of a parsed request", bytes],
  headerBytes: ["Head of a request", bytes],
  answerBytes: ["Body of a response", bytes],
  batch: ["Requests of a batch", number],
  batchBytes: ["Responses of a batch together", bytes],
  heldBytes: ["Memory of all requests and responses, made or being made", bytes],
  heldBytesPerAddress: ["The same of one IP address", bytes],
  reservedBytes: ["Reserved for a response before it is made, at most", bytes],
  requests: ["Requests being answered or waiting for it", number],
  requestsPerAddress: ["The same of one IP address", number],
  expensiveCalls: ["Calls that may take long at once", number],
  eventLoopShare: ["Event loop, with proofs that other threads check", percent],
  connections: ["Connections of a port", number],
  connectionsPerPublicAddress: ["The same of one public IP address", number],
  connectionsPerPrivateAddress: ["The same of one private address", number],
  slowMs: ["Time to send a request, and to wait for a turn", seconds],
  leastRate: ["Slowest rate at which a response is taken, on average over that time, a second", bytes],
  halfClosedMs: ["A call that reads ends this long after its caller has closed its side", seconds],
  streams: ["Open streams of events", number],
  streamsPerAddress: ["The same of one IP address", number],
  streamBytes: ["An event of a stream, and what waits for its reader", bytes],
  heartbeatMs: ["The reader of a silent stream is sent a comment after", seconds],
  keepAliveMs: ["A connection without requests", seconds],
};

function portTable() {
  const { owner, strangers } = divideLimits(defaultLimits);
  const rows = Object.entries(limits).map(
    ([name, [meaning, show]]) => `| ${meaning} | ${show(owner[name])} | ${show(strangers[name])} |`,
  );
  return ["| Limit | Owner's ports | Restricted ports |", "|---|--:|--:|", ...rows].join("\n");
}

function callTable({ title, declared }) {
  const rows = declared.map(({ name, cost, reads, access }) => {
    const figures = [
      bytes(cost.requestBytes),
      bytes(cost.memoryBytes),
      number(cost.rows),
      bytes(cost.responseBytes),
    ];
    const marks = [
      reads ? "reads" : "acts",
      access === "unrestricted" && "owner only",
      isExpensive(cost) && "may take long",
    ];
    return `| \`${name}\` | ${figures.join(" | ")} | ${marks.filter(Boolean).join(", ")} |`;
  });
  const heading = "| Call | Request | Memory parsed | Rows | Response | |\n|---|--:|--:|--:|--:|---|";
  return [`### ${title[0].toUpperCase()}${title.slice(1)}`, "", heading, ...rows].join("\n");
}

/** The section, as Markdown. */
export async function rpcLimits() {
  const tables = (await services()).map(callTable);
  return [
    "## Callers",
    `A service without restricted ports gives its owner the memory of both. What is declared for a call holds on both kinds of port where the port's own limit is not lower. Memory parsed is counted as 64 bytes a value of JSON. Rows are those of the node's database; a call that only reads ends with HTTP 500 once it has read more, and one that may read more than 5,000 may take long, and so has to wait while as many such calls run as its port allows. They are not counted where many callers share what is read (the first output distribution), nor in the wallet service, where they only say what may take long. What acts wants POST or a login. Where something is limited for one IP address, 64 bits of IPv6 count as one. A node that may open few descriptors divides them among its ports, so that strangers leave the owner's and the peers' their places. Of the event loop's part, a MiB of requests takes ${byteCosts.requestMsPerMiB} ms beside the time of processing it, and a MiB of responses ${byteCosts.responseMsPerMiB} ms: other threads collect the garbage that they leave. While the event loop has no time left, all of it counts up to four times (\`packages/limits/src/loop-load.ts\`), so that the owner is answered before strangers are.`,
    portTable(),
    ...tables,
  ].join("\n\n");
}
