import { randomInt } from "node:crypto";
import { createServer, type Server } from "node:net";

/**
 * Ports are chosen below those that systems give to connections, so that no connection made meanwhile takes one.
 * Source: ip(7), ip_local_port_range: from 32768 on; RFC 6335, section 6: from 49152 on.
 */
const FIRST_PORT = 10_000;
const END_OF_PORTS = 32_768;
const MAX_ATTEMPTS = 100;

/** Ports that were free a moment ago on 127.0.0.1, all different: held together, then released. */
export async function freePorts(count: number): Promise<number[]> {
  const servers: Server[] = [];
  const ports: number[] = [];
  try {
    for (let attempt = 0; ports.length < count; attempt++) {
      if (attempt === MAX_ATTEMPTS + count) throw new Error("no free port");
      const port = randomInt(FIRST_PORT, END_OF_PORTS);
      const server = createServer();
      if (!(await isFree(server, port))) continue;
      servers.push(server);
      ports.push(port);
    }
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
  return ports;
}

function isFree(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => resolve(true));
  });
}
