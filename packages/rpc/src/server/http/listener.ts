import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { addressBlock } from "@anulo/limits";
import { HttpConnection, type HttpService } from "./connection.ts";
import { ResponseBatch } from "./response-batch.ts";
import { UnprovenConnections } from "./unproven.ts";

/** Turns a new socket into one that carries HTTP, and passes it on with the bytes that were already read. */
export type Opener = (socket: Socket, open: (plain: Socket, firstBytes?: Buffer) => void) => void;

export type ListenerOptions = {
  readonly host: string;
  readonly port: number;
  readonly service: Omit<HttpService, "closed">;
  /** Whether a connection from this IP address is accepted; called for each. */
  readonly admit: (remoteAddress: string) => boolean;
  readonly maxConnections: number;
  /** Maximum number of open connections of this IP address, or of its 64 bits of IPv6. */
  readonly maxConnectionsOf: (remoteAddress: string) => number;
  /** Whether only few are let through (`HttpService.screen`): connections on which nobody was yet have a small bound. */
  readonly isForFew?: boolean;
  /** If left out, sockets carry HTTP directly. */
  readonly opener?: Opener;
  readonly onError: (error: Error) => void;
};

/** An open port. */
export interface HttpListener {
  readonly address: AddressInfo;
  connectionCount(): number;
  /** Stops listening and ends idle connections; resolves when the last one has ended. */
  close(): Promise<void>;
  /** Ends all connections; callers that wait for a response are informed that none will come. */
  giveUp(): void;
  /** Ends all connections at once. */
  cut(): void;
}

const openPlain: Opener = (socket, open) => open(socket);

/** Milliseconds between checks for slow callers and for silent streams. */
const checkEveryMs = ({ slowMs, heartbeatMs }: HttpService["limits"]): number =>
  Math.max(10, Math.min(1000, slowMs / 4, heartbeatMs / 4));

/** Starts listening; rejects if it cannot. */
export async function startListener(options: ListenerOptions): Promise<HttpListener> {
  const { service, admit, opener, onError } = options;
  const sockets = new Set<Socket>();
  const perAddress = new Map<string, number>();
  const connections = new Set<HttpConnection>();
  const batch = new ResponseBatch();
  const unproven = options.isForFew ? new UnprovenConnections(options.maxConnections / 2) : undefined;
  let isStopping = false;
  const httpService: HttpService = {
    ...service,
    closed: (connection) => void connections.delete(connection),
    accepted: ({ socket }) => unproven?.prove(socket, addressBlock(addressOf(socket))),
  };
  const server = createServer({ noDelay: true, allowHalfOpen: true });
  // Silent connections never take the place of those that carry calls.
  server.maxConnections = options.maxConnections * (unproven === undefined ? 1 : 2);
  const open = (socket: Socket, firstBytes?: Buffer): void => {
    const connection = new HttpConnection(socket, httpService, batch);
    connections.add(connection);
    if (firstBytes !== undefined) connection.begin(firstBytes);
    if (isStopping) connection.stop();
  };
  server.on("connection", (socket: Socket) => {
    const remoteAddress = addressOf(socket);
    const block = addressBlock(remoteAddress);
    const isTooMany = (perAddress.get(block) ?? 0) >= options.maxConnectionsOf(remoteAddress);
    if (isTooMany || !admit(remoteAddress)) return void socket.destroy();
    sockets.add(socket);
    unproven?.add(socket, block, performance.now());
    countUntilClosed(perAddress, socket, block);
    socket.once("close", () => {
      sockets.delete(socket);
      unproven?.remove(socket);
    });
    (opener ?? openPlain)(socket, open);
  });
  await listen(server, options);
  server.on("error", onError);
  const check = () => checkTimes(connections, unproven);
  const timer = setInterval(check, checkEveryMs(service.limits)).unref();
  return {
    address: server.address() as AddressInfo,
    connectionCount: () => sockets.size,
    async close() {
      isStopping = true;
      const closed = new Promise((resolve) => server.close(resolve));
      for (const connection of connections) connection.stop();
      await closed;
      clearInterval(timer);
    },
    giveUp() {
      for (const connection of connections) connection.giveUp();
    },
    cut() {
      for (const connection of connections) connection.cut();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function checkTimes(connections: Iterable<HttpConnection>, unproven: UnprovenConnections | undefined): void {
  const now = performance.now();
  unproven?.check(now);
  for (const connection of connections) connection.checkTime(now);
}

function countUntilClosed(perAddress: Map<string, number>, socket: Socket, address: string): void {
  perAddress.set(address, (perAddress.get(address) ?? 0) + 1);
  socket.once("close", () => {
    const remaining = perAddress.get(address)! - 1;
    if (remaining > 0) perAddress.set(address, remaining);
    else perAddress.delete(address);
  });
}

const addressOf = ({ remoteAddress = "" }: Socket): string => remoteAddress;

function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
}
