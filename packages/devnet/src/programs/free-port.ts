import { randomInt } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/**
 * Ports are chosen below those that systems give to connections, so that no connection made meanwhile takes one.
 * Source: ip(7), ip_local_port_range: from 32768 on; RFC 6335, section 6: from 49152 on.
 */
const FIRST_PORT = 10_000;
const END_OF_PORTS = 32_768;
const MAX_ATTEMPTS = 100;
/** More would only take descriptors: a program listens within seconds, and starts again at its port as soon. */
const MAX_RESERVED = 256;

/** Those of this process, oldest first. */
const reserved: Socket[] = [];

/**
 * TCP ports of 127.0.0.1 that are free, all different. A program may take seconds until it listens: as long as this
 * process lives, the last 256 ports that it got are given to none, here or in another process.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let attempt = 0; ports.length < count; attempt++) {
    if (attempt === MAX_ATTEMPTS + count) throw new Error("no free port");
    const port = randomInt(FIRST_PORT, END_OF_PORTS);
    if (await reservePort(port)) ports.push(port);
  }
  return ports;
}

/**
 * Reserves a TCP port by the UDP port of the same number, which the system releases when this process ends, however it
 * ends. Returns false where the port is reserved already, or in use.
 */
export async function reservePort(port: number): Promise<boolean> {
  const reservation = createSocket("udp4").unref();
  reservation.bind({ port, address: "127.0.0.1", exclusive: true });
  const isReserved = await isListening(reservation);
  if (!isReserved || !(await isFree(port))) {
    reservation.close();
    return false;
  }
  reserved.push(reservation);
  if (reserved.length > MAX_RESERVED) reserved.shift()!.close();
  return true;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  if (!(await isListening(server))) return false;
  server.close();
  await once(server, "close");
  return true;
}

/** Whether what begins to listen can: false once it has failed. */
function isListening(socket: Socket | Server): Promise<boolean> {
  return once(socket, "listening").then(
    () => true,
    () => false,
  );
}
