import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** A question to a node, and its true answer. */
export type Exchange = { readonly path: string; readonly asked: string; readonly truth: Buffer };

/** Stands before a node and passes everything on, but for what `distort` makes of its answers. */
export async function lyingProxy(port: number, distort: (exchange: Exchange) => Buffer) {
  const server = createServer((asked, answer) => {
    const parts: Buffer[] = [];
    asked.on("data", (part: Buffer) => parts.push(part));
    asked.on("end", () => {
      const body = Buffer.concat(parts);
      const target = { host: "127.0.0.1", port, path: asked.url, method: asked.method };
      const onward = request({ ...target, headers: asked.headers }, (reply) => {
        const got: Buffer[] = [];
        reply.on("data", (part: Buffer) => got.push(part));
        reply.on("end", () => {
          const exchange = { path: asked.url ?? "", asked: body.toString(), truth: Buffer.concat(got) };
          const told = distort(exchange);
          const { "transfer-encoding": _, ...headers } = reply.headers;
          answer.writeHead(reply.statusCode ?? 500, { ...headers, "content-length": told.length });
          answer.end(told);
        });
      });
      onward.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { port: (server.address() as AddressInfo).port, stop };
}
