import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Received = {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
};

/** What becomes of a request: `drop` cuts the connection before or after the service has had it. */
export type Fate = "pass" | "drop before" | "drop after";

export type FakeService = {
  readonly url: string;
  readonly received: readonly Received[];
  close(): Promise<void>;
};

async function read(request: IncomingMessage): Promise<Received> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const { method = "", url = "", headers } = request;
  return { method, path: url, body: Buffer.concat(parts).toString(), headers };
}

async function listen(server: Server, received: Received[]): Promise<FakeService> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A service that is a function of requests. */
export async function startFakeService(
  answer: (request: Received, response: ServerResponse) => void | Promise<void>,
): Promise<FakeService> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const whole = await read(request);
    received.push(whole);
    await answer(whole, response);
  });
  return await listen(server, received);
}

/** Stands before a service and loses some of its requests and responses. */
export async function startCutter(target: string, fateOf: (request: Received) => Fate): Promise<FakeService> {
  return await startFakeService(async (request, response) => {
    const fate = fateOf(request);
    if (fate === "drop before") return void response.destroy();
    const { method, path, body } = request;
    const reply = await fetch(`${target}${path}`, { method, ...(method === "POST" && { body }) });
    const text = await reply.text();
    if (fate === "drop after") return void response.destroy();
    response.writeHead(reply.status, { "Content-Type": "application/json" }).end(text);
  });
}

/** An answer of JSON-RPC, as text of its result or of its error. */
export function reply(response: ServerResponse, members: string): void {
  response
    .writeHead(200, { "Content-Type": "application/json" })
    .end(`{"jsonrpc":"2.0","id":"0",${members}}`);
}
