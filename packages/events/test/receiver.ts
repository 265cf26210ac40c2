import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface Received {
  readonly path: string;
  readonly host: string;
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly body: string;
  /** Of the event. */
  readonly sequence: number;
}

export type Respond = (response: ServerResponse, received: Received) => void;

/** A server that takes webhooks on a port of its own. */
export interface Receiver {
  readonly port: number;
  readonly url: string;
  /** All requests, in order. */
  readonly received: Received[];
  /** Connections that were made to it. */
  readonly sockets: Socket[];
  /** How it responds from now on; by default with 204. */
  respond: Respond;
  stop(): Promise<void>;
}

async function readReceived(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString();
  const header = (name: string) => String(request.headers[name] ?? "");
  return {
    path: request.url ?? "",
    host: header("host"),
    id: header("webhook-id"),
    timestamp: header("webhook-timestamp"),
    signature: header("webhook-signature"),
    body,
    sequence: Number((JSON.parse(body) as { sequence: number }).sequence),
  };
}

export const ok: Respond = (response) => void response.writeHead(204).end();

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    response.on("error", () => {});
    readReceived(request).then(
      (found) => {
        received.push(found);
        receiver.respond(response, found);
      },
      () => response.destroy(),
    );
  });
  const sockets: Socket[] = [];
  server.on("connection", (socket) => sockets.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    port,
    url: `http://127.0.0.1:${port}/hook`,
    received,
    sockets,
    respond: ok,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return receiver;
}
