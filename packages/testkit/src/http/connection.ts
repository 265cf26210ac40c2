import { connect, type Socket } from "node:net";

/** An HTTP answer as it came over the wire; `http` 0 means that the connection ended without one. */
export type RawAnswer = {
  readonly http: number;
  readonly reason: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

export type RawRequest = {
  /** Method, or "RAW": `body` is everything to be sent. */
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Ends our side after sending: for requests without a length. */
  readonly halfClose?: boolean;
};

const usualPatienceMs = 30_000;

/** One connection to a server: what a browser or a client library would hide stays visible. */
export class RawConnection {
  readonly #socket: Socket;
  readonly #host: string;
  readonly #patienceMs: number;
  #received: Buffer[] = [];
  #receivedBytes = 0;
  #closed = false;
  #wake: () => void = () => {};

  /** Waits `patienceMs` for each part of an answer. */
  constructor(url: string, patienceMs = usualPatienceMs) {
    this.#patienceMs = patienceMs;
    const { hostname, port, host } = new URL(url);
    this.#host = host;
    this.#socket = connect({ host: hostname, port: Number(port) });
    this.#socket.setNoDelay(true);
    this.#socket.on("data", (bytes: Buffer) => {
      this.#received.push(bytes);
      this.#receivedBytes += bytes.length;
      this.#wake();
    });
    const close = () => {
      this.#closed = true;
      this.#wake();
    };
    this.#socket.on("error", close);
    this.#socket.on("close", close);
    this.#socket.on("end", close);
  }

  /** Sends a request and reads its answer. Throws if none comes in time. */
  async exchange(request: RawRequest): Promise<RawAnswer> {
    this.#socket.write(requestBytes(request, this.#host));
    if (request.halfClose) this.#socket.end();
    const head = await this.#readHead();
    if (head === undefined) {
      return { http: 0, reason: "connection closed without an answer", headers: {}, body: Buffer.alloc(0) };
    }
    const body = request.method === "HEAD" ? Buffer.alloc(0) : await this.#readBody(head.headers);
    return { ...head, body };
  }

  close(): void {
    this.#socket.destroy();
  }

  async #readHead(): Promise<Omit<RawAnswer, "body"> | undefined> {
    for (;;) {
      const end = await this.#find("\r\n\r\n");
      if (end < 0) return undefined;
      const head = parseHead(this.#take(end + 4).toString("latin1"));
      if (head.http >= 200) return head;
    }
  }

  async #readBody(headers: Readonly<Record<string, string>>): Promise<Buffer> {
    if (headers["transfer-encoding"] === "chunked") return this.#readChunks();
    const length = headers["content-length"];
    if (length === undefined) {
      await this.#until(() => this.#closed);
      return this.#take(this.#receivedBytes);
    }
    await this.#until(() => this.#receivedBytes >= Number(length) || this.#closed);
    return this.#take(Number(length));
  }

  async #readChunks(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for (;;) {
      const end = await this.#find("\r\n");
      const size = end < 0 ? 0 : Number.parseInt(this.#take(end + 2).toString("latin1"), 16);
      await this.#until(() => this.#receivedBytes >= size + 2 || this.#closed);
      const chunk = this.#take(size + 2);
      if (size === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, size));
    }
  }

  async #find(mark: string): Promise<number> {
    await this.#until(() => this.#joined().includes(mark) || this.#closed);
    return this.#joined().indexOf(mark);
  }

  #take(length: number): Buffer {
    const received = this.#joined();
    const rest = received.subarray(length);
    this.#received = [rest];
    this.#receivedBytes = rest.length;
    return received.subarray(0, length);
  }

  /** What has come, in one piece: not for each arrival, since a long body comes in thousands. */
  #joined(): Buffer {
    const joined = this.#received.length === 1 ? this.#received[0]! : Buffer.concat(this.#received);
    this.#received = [joined];
    return joined;
  }

  async #until(ready: () => boolean): Promise<void> {
    const deadline = Date.now() + this.#patienceMs;
    while (!ready()) {
      const remaining = deadline - Date.now();
      if (remaining <= 0) throw new Error(`no answer within ${this.#patienceMs} ms`);
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, remaining);
        this.#wake = () => {
          clearTimeout(late);
          resolve();
        };
      });
    }
  }
}

function requestBytes({ method, path, headers = {}, body }: RawRequest, host: string): Buffer {
  if (method === "RAW") return Buffer.from(body ?? []);
  const named = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const lines = [`${method} ${path} HTTP/1.1`];
  if (!named.has("host")) lines.push(`Host: ${host}`);
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== undefined && !named.has("content-length") && !named.has("transfer-encoding")) {
    lines.push(`Content-Length: ${body.length}`);
  }
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), Buffer.from(body ?? [])]);
}

function parseHead(text: string): Omit<RawAnswer, "body"> {
  const [status = "", ...lines] = text.trimEnd().split("\r\n");
  const [, http = "0", reason = ""] = /^HTTP\/\d\.\d (\d+) ?(.*)$/.exec(status) ?? [];
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]} || ${value}`;
  }
  return { http: Number(http), reason, headers };
}
