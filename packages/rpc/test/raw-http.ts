import { connect } from "node:net";

export type RawAnswer = {
  readonly http: number;
  readonly reason: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
};

/** Sends bytes over one new connection and returns all that comes back until it is complete or closed. */
export function exchange(
  url: string,
  bytes: Uint8Array,
  options: { halfClose?: boolean; head?: boolean } = {},
) {
  const { hostname, port } = new URL(url);
  return new Promise<RawAnswer>((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let received = Buffer.alloc(0);
    const finish = (): void => {
      socket.destroy();
      resolve(parseAnswer(received));
    };
    socket.on("data", (part) => {
      received = Buffer.concat([received, part]);
      if (isComplete(received, options.head === true)) finish();
    });
    socket.on("end", finish);
    socket.on("error", finish);
    socket.write(bytes);
    if (options.halfClose) socket.end();
  });
}

function isComplete(received: Buffer, head: boolean): boolean {
  const end = received.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const text = received.toString("latin1", 0, end);
  if (text.startsWith("HTTP/1.1 100")) return isComplete(received.subarray(end + 4), head);
  const length = Number(/^content-length: (\d+)$/im.exec(text)?.[1] ?? 0);
  return head || received.length >= end + 4 + length;
}

function parseAnswer(received: Buffer): RawAnswer {
  const end = received.indexOf("\r\n\r\n");
  if (end === -1) return { http: 0, reason: "", headers: new Map(), body: received };
  const [first = "", ...lines] = received.toString("latin1", 0, end).split("\r\n");
  if (first.startsWith("HTTP/1.1 100")) return parseAnswer(received.subarray(end + 4));
  const [, status, ...reason] = first.split(" ");
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).trim();
    headers.set(name, headers.has(name) ? `${headers.get(name)} || ${value}` : value);
  }
  return { http: Number(status), reason: reason.join(" "), headers, body: received.subarray(end + 4) };
}

/** Bytes of a request with the headers in the order given. */
export function requestBytes(options: {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}): Buffer {
  const { method, path, headers, body } = options;
  const all = { Host: "127.0.0.1", Connection: "close", "Content-Length": String(body.length), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1"), body]);
}
