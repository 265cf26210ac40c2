import { HostileConnection } from "./hostile-connection.ts";

const HEAD_END = "\r\n\r\n";

/** A caller of the RPC; of responses it keeps only the status. */
export class HostileCaller extends HostileConnection {
  readonly #statuses: number[] = [];
  #onResponse: () => void = () => {};
  #head: Buffer = Buffer.alloc(0);
  #bodyLeft = 0;

  /** Sends a request and waits for its whole response; its status, or 0 where the connection closes. */
  async exchange(request: Uint8Array): Promise<number> {
    await this.send(request);
    while (this.#statuses.length === 0) {
      if (this.isClosed) return 0;
      const responded = new Promise<void>((resolve) => {
        this.#onResponse = resolve;
      });
      await Promise.race([responded, this.closed]);
    }
    return this.#statuses.shift()!;
  }

  protected override receive(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0) {
      if (this.#bodyLeft === 0) rest = this.#readHead(rest);
      const size = Math.min(this.#bodyLeft, rest.length);
      this.#bodyLeft -= size;
      rest = rest.subarray(size);
      if (this.#bodyLeft === 0 && this.#head.length === 0) this.#onResponse();
    }
  }

  /** Reads on in a head and returns what follows it. */
  #readHead(bytes: Buffer): Buffer {
    this.#head = Buffer.concat([this.#head, bytes]);
    const end = this.#head.indexOf(HEAD_END);
    if (end < 0) return Buffer.alloc(0);
    const text = this.#head.subarray(0, end).toString("latin1");
    const rest = this.#head.subarray(end + HEAD_END.length);
    this.#head = Buffer.alloc(0);
    this.#bodyLeft = Number(/^content-length: *(\d+)/im.exec(text)?.[1] ?? 0);
    this.#statuses.push(Number(text.split(" ")[1]));
    return rest;
  }
}

export interface HttpRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

/** A request as bytes. */
export function httpRequest({ method = "POST", path, headers = {}, body = "" }: HttpRequest): Buffer {
  const content = Buffer.from(body);
  const lines = Object.entries({ Host: "127.0.0.1", ...headers }).map(([name, value]) => `${name}: ${value}`);
  const length = method === "GET" ? [] : [`Content-Length: ${content.length}`];
  const head = [`${method} ${path} HTTP/1.1`, ...lines, ...length].join("\r\n");
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, "latin1"), content]);
}

/** A call of JSON-RPC as bytes. */
export function callRequest(method: string, params: unknown = {}): Buffer {
  return httpRequest({
    path: "/json_rpc",
    body: JSON.stringify({ jsonrpc: "2.0", id: "0", method, params }),
  });
}

/** A call of a plain path as bytes. */
export const pathRequest = (path: string, body: unknown = {}) =>
  httpRequest({ path, body: JSON.stringify(body) });
