import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { FaultBook, FaultOptions, RequestOnItsWay } from "./faults.ts";

export type ProxyOptions = {
  /** Where requests go, as `http://host:port`. */
  readonly target: string;
  /** 0: a free one. */
  readonly port: number;
  readonly faults: FaultBook;
  readonly at: FaultOptions["at"];
  readonly wallet?: string;
};

export type Proxy = { readonly url: string; stop(): Promise<void> };

/** Bytes of a request up to which the method it calls is read. */
const MAX_READ_BYTES = 16 * 1024 * 1024;

/** Passes requests on, on 127.0.0.1, unless a fault befalls them. */
export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  const { faults, at, wallet, port } = options;
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<Socket>();
  const isAway = ({ kind, calls, ...place }: FaultOptions) =>
    kind === "away" && calls === undefined && place.at === at && (place.wallet ?? wallet) === wallet;
  const server = createServer((incoming, response) => {
    void pass(options, agent, { incoming, response }).catch(() => incoming.socket.destroy());
  });
  // Connections last as long as the program behind keeps them.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  faults.onBegin.push((fault) => {
    if (isAway(fault)) for (const socket of sockets) socket.resetAndDestroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
        agent.destroy();
      }),
  };
}

type Exchange = { readonly incoming: IncomingMessage; readonly response: ServerResponse };

async function pass(
  { target, faults, at, wallet }: ProxyOptions,
  agent: Agent,
  { incoming, response }: Exchange,
): Promise<void> {
  const place: RequestOnItsWay = { at, wallet };
  if (!faults.concerns(place)) return forward({ target, agent }, { incoming, response });
  const body = await readBody(incoming);
  const fault = faults.apply({ ...place, call: callOf(incoming.url ?? "", body) });
  // Merely closed, the connection would also fail the original wallet's next call, after the fault has ended.
  if (fault?.kind === "away") return void incoming.socket.resetAndDestroy();
  if (fault?.kind === "refusing") {
    response.writeHead(503, { "Content-Length": 0 });
    return void response.end();
  }
  if (fault?.kind === "slow") await pause(fault.delayMs, undefined, { ref: false });
  if (response.destroyed) return;
  forward({ target, agent }, { incoming, response, body, isAnswerLost: fault?.kind === "lost-answers" });
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_READ_BYTES) throw new Error("a request too long to be read by a fault");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The method that a request calls, or the last part of its path. */
function callOf(url: string, body: Buffer): string {
  const name = (url.split("?")[0] ?? "").split("/").at(-1) ?? "";
  if (name !== "json_rpc") return name;
  try {
    const { method } = JSON.parse(body.toString()) as { method?: unknown };
    return typeof method === "string" ? method : name;
  } catch {
    return name;
  }
}

type ForwardOptions = Exchange & { readonly body?: Buffer; readonly isAnswerLost?: boolean };

/** Passes head and body on as they are, and the answer back. Whoever is left by the other side leaves too. */
function forward(
  { target, agent }: { readonly target: string; readonly agent: Agent },
  { incoming, response, body, isAnswerLost = false }: ForwardOptions,
): void {
  const { method, url = "/", rawHeaders } = incoming;
  const passed = request(`${target}${url}`, { method, agent, headers: rawHeaders as unknown as string[] });
  const leave = () => void incoming.socket.destroy();
  passed.on("error", leave);
  passed.on("response", (answer) => {
    answer.on("error", leave);
    if (isAnswerLost) return void answer.on("end", leave).resume();
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders);
    answer.pipe(response);
  });
  response.on("close", () => {
    if (!response.writableFinished && !isAnswerLost) passed.destroy();
  });
  if (body === undefined) incoming.pipe(passed);
  else passed.end(body);
}
