import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Where the wallet dies of a transaction it sends: before the node has it, or before the node's response arrives. */
export type RelayPoint = "before" | "after";

/** Stands between a wallet and its node. */
export type GoBetween = {
  readonly url: string;
  /** `kill` is called around the next transaction on its way to the node. */
  arm(when: RelayPoint, kill: () => void): void;
  stop(): Promise<void>;
};

const relays = /^\/send_?raw_?transaction$/;

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

export async function startGoBetween(nodeUrl: string): Promise<GoBetween> {
  let armed: { readonly when: RelayPoint; readonly kill: () => void } | undefined;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    const point = relays.test(request.url ?? "") ? armed : undefined;
    if (point !== undefined) armed = undefined;
    if (point?.when === "before") return point.kill();
    const answer = await fetch(`${nodeUrl}${request.url}`, {
      method: "POST",
      body: new Uint8Array(body),
      headers: { "Content-Type": request.headers["content-type"] ?? "application/json" },
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (point?.when === "after") return point.kill();
    const type = answer.headers.get("content-type") ?? "application/json";
    response.writeHead(answer.status, { "Content-Type": type, "Content-Length": bytes.length });
    response.end(bytes);
  };
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arm: (when, kill) => {
      armed = { when, kill };
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
