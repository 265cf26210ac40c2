import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { Gathered } from "../gathered.ts";
import { type BodyReader, createBodyReader } from "../server/http/body-reader.ts";
import { parseResponseHead, type ResponseHead } from "./response-head.ts";

/** A response, read to its end. */
export type Reply = {
  readonly status: number;
  readonly challenges: readonly string[];
  readonly body: Buffer;
};

/** What came is not an HTTP response. */
class NotHttp extends Error {
  override name = "NotHttp";
  readonly code = "NOT_HTTP";
}

/** The body of a response did not arrive, or is longer than allowed. */
export class BrokenBody extends Error {
  override name = "BrokenBody";
}

/** The connection ended as the system reports it for one that was reset. */
class ConnectionEnded extends Error {
  override name = "ConnectionEnded";
  readonly code = "ECONNRESET";
}

type Exchange = {
  readonly maxBytes: number;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
};

/** Maximum size (bytes) of the lines before a body. */
const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_END = "\r\n\r\n";
/** Milliseconds before the system asks whether the service is still there. */
const PROBE_MS = 1000;

const none = Buffer.alloc(0);

/** The bytes of a body that ends with its connection. */
class OpenBody implements BodyReader {
  readonly #maxBytes: number;
  readonly #parts = new Gathered();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  take(bytes: Buffer): undefined {
    this.#parts.add(bytes);
  }

  body = (): Buffer => this.#parts.bytes;
  bufferedBytes = (): number => this.#parts.capacity;
  isTooLarge = (): boolean => this.#parts.length > this.#maxBytes;
}

/** A connection to a service: one request at a time, each once the response before it has ended. */
export class ClientConnection {
  readonly #stream: Duplex;
  readonly #onClosed: () => void;
  #exchange: Exchange | undefined;
  /** Bytes of a response whose head is not complete. */
  #start: Buffer = none;
  #head: ResponseHead | undefined;
  #body: BodyReader | undefined;
  #isOpen = true;
  /** Whether a response has arrived by it. */
  wasUsed = false;

  /** `onClosed` is called once. */
  constructor(stream: Duplex, onClosed: () => void) {
    this.#stream = stream;
    this.#onClosed = onClosed;
    if (stream instanceof Socket) stream.setKeepAlive(true, PROBE_MS);
    stream.on("data", (bytes: Buffer) => this.#take(bytes));
    stream.on("end", () => this.#end());
    stream.on("error", (error) => this.#fail(error));
    stream.on("close", () => this.#end());
  }

  /** Whether it can take a request. */
  get isFree(): boolean {
    return this.#isOpen && this.#exchange === undefined;
  }

  /** Whether it keeps the process running. */
  set isNeeded(isNeeded: boolean) {
    if (!(this.#stream instanceof Socket)) return;
    if (isNeeded) this.#stream.ref();
    else this.#stream.unref();
  }

  /** Sends a request. Rejects with `NotHttp`, `BrokenBody`, or the error of a connection that failed before. */
  send(request: Buffer, maxBytes: number): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#exchange = { maxBytes, resolve, reject };
      this.#stream.write(request);
    });
  }

  /** Closes it; the request under way rejects with the error. */
  destroy(error: Error): void {
    this.#fail(error);
  }

  #take(bytes: Buffer): void {
    const exchange = this.#exchange;
    if (exchange === undefined) {
      this.#fail(new NotHttp("bytes that were not requested"));
      return;
    }
    try {
      const rest = this.#body === undefined ? this.#takeHead(bytes, exchange) : bytes;
      if (rest !== undefined) this.#takeBody(rest, exchange);
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Returns what follows the head, once it is complete; responses that announce another are skipped. */
  #takeHead(bytes: Buffer, { maxBytes }: Exchange): Buffer | undefined {
    this.#start = this.#start.length === 0 ? bytes : Buffer.concat([this.#start, bytes]);
    for (;;) {
      const end = this.#start.indexOf(HEAD_END, 0, "latin1");
      if (end > MAX_HEAD_BYTES || (end === -1 && this.#start.length > MAX_HEAD_BYTES))
        throw new NotHttp("no end of the head");
      if (end === -1) return undefined;
      const head = parseResponseHead(this.#start.toString("latin1", 0, end));
      if (head === undefined || head.status === 101) throw new NotHttp("not a response");
      const rest = this.#start.subarray(end + HEAD_END.length);
      this.#start = head.status < 200 ? rest : none;
      if (head.status < 200) continue;
      this.#head = head;
      this.#body = head.endsWithConnection
        ? new OpenBody(maxBytes)
        : createBodyReader(head, { maxBytes, keep: true });
      // A reader that begins with the whole body does not copy it.
      return rest.length > 0 || head.length === 0 || this.#body.isTooLarge() ? rest : undefined;
    }
  }

  #takeBody(bytes: Buffer, { maxBytes }: Exchange): void {
    const body = this.#body!;
    const rest = body.isTooLarge() ? undefined : body.take(bytes);
    if (body.isTooLarge()) throw new RangeError(`more than ${maxBytes} bytes`);
    if (rest !== undefined) this.#finish(rest.length === 0);
  }

  /** `isLast`: no bytes follow the response. */
  #finish(isLast: boolean): void {
    const [exchange, head, body] = [this.#exchange!, this.#head!, this.#body!];
    this.#exchange = undefined;
    this.#head = undefined;
    this.#body = undefined;
    this.wasUsed = true;
    // A service that did not read the whole request reads the rest as the next one.
    if (!isLast || !head.keepsOpen || this.#stream.writableLength > 0) this.#close();
    exchange.resolve({ status: head.status, challenges: head.challenges, body: body.body() });
  }

  /** The service has closed the connection. */
  #end(): void {
    if (this.#head?.endsWithConnection) this.#finish(true);
    else if (this.#start.length > 0) this.#fail(new NotHttp("the head broke off"));
    else this.#fail(new ConnectionEnded("the connection ended"));
  }

  #fail(error: Error): void {
    const [exchange, hasHead] = [this.#exchange, this.#head !== undefined];
    this.#exchange = undefined;
    this.#head = undefined;
    this.#body = undefined;
    this.#start = none;
    this.#close();
    exchange?.reject(hasHead ? new BrokenBody("the body broke off", { cause: error }) : error);
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#stream.destroy();
    this.#onClosed();
  }
}
