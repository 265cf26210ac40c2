/** The connection on which this process passes reads on to another one of the same service. */
import { connect, type Socket } from "node:net";
import type { Answer } from "../server/answer.ts";
import { hostAndPortOf } from "./peer-address.ts";
import {
  BadFrames,
  BatchMac,
  FrameReader,
  fitsBatch,
  mostRead,
  READS_PATH,
  type ReadRequest,
  RequestBatch,
  responseOf,
} from "./read-frames.ts";

/** A call that may only read: its response may be fetched twice. */
export type Read = {
  readonly target: string;
  readonly body: Uint8Array;
  readonly restricted: boolean;
  /** Identifies it in logs. */
  readonly id: string;
  /** Aborted when its caller has left; asked for only when the response takes long. */
  readonly signal: AbortSignal;
};

export type ReadLinkOptions = {
  /** `host:port`. */
  readonly address: string;
  /** The header Authorization of the request for `READS_PATH`, whose body is empty. */
  readonly authorization: string;
  /** Of `Passes.linkKeyOf` for this header. */
  readonly key: Uint8Array;
  /** Aborted when the other process is gone. */
  readonly signal: AbortSignal;
  /**
   * Looks without a byte since the one before, while reads wait, after which the connection is probed, and ended after as
   * many more; those of two seconds by default.
   */
  readonly silentLooks?: number;
};

type Waiting = {
  readonly read: Read;
  readonly resolve: (answer: Answer | undefined) => void;
  readonly sinceMs: number;
  stopWatching: (() => void) | undefined;
};

const OPENED = /^HTTP\/1\.1 101 /;
const HEAD_END = "\r\n\r\n";
const MOST_HEAD_BYTES = 4096;
/** Milliseconds until the connection has to be open. */
const OPEN_MS = 3000;
/** Maximum number of bytes that the other process has not received yet. */
const MOST_UNSENT_BYTES = 4 * mostRead.batchBytes;
/** Milliseconds after which it is noticed that a caller has left: listening for it costs as much as a short call. */
const WATCH_MS = 100;
/** Looks, not milliseconds: those of a process that was held up itself come after what has arrived meanwhile. */
const SILENT_LOOKS = 20;
/** A path without an object, to which the other process responds at once (404). */
const PROBE_TARGET = "/";

export class ReadLink {
  readonly #socket: Socket;
  readonly #options: ReadLinkOptions;
  readonly #mac: BatchMac;
  readonly #frames = new FrameReader(mostRead.answerBytes + 1024);
  readonly #batch = new RequestBatch();
  readonly #waiting = new Map<number, Waiting>();
  readonly #openTimer: NodeJS.Timeout;
  #watchTimer: NodeJS.Timeout | undefined;
  #state: "opening" | "open" | "over" = "opening";
  #head: Buffer = Buffer.alloc(0);
  #lastNumber = 0;
  #isFlushDue = false;
  /** Looks since bytes came last, or reads began to wait, and whether it was probed since. */
  #silentLooks = 0;
  #isProbed = false;

  constructor(options: ReadLinkOptions) {
    this.#options = options;
    this.#mac = new BatchMac(options.key);
    const { host, port } = hostAndPortOf(options.address);
    this.#socket = connect({ host, port, noDelay: true, keepAlive: true });
    this.#socket.on("connect", () => void this.#socket.write(openingOf(options), "latin1"));
    this.#socket.on("data", (bytes: Buffer) => this.#take(bytes));
    this.#socket.on("error", () => this.close());
    this.#socket.on("close", () => this.close());
    this.#openTimer = setTimeout(() => this.close(), OPEN_MS);
    options.signal.addEventListener("abort", this.#onGone);
    if (options.signal.aborted) this.close();
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Whether it is of no use any more. */
  get isOver(): boolean {
    return this.#state === "over";
  }

  /**
   * Passes a read on; undefined, at once or later, where it has to be passed on by a request of its own: the connection
   * is not open or ends, or it is too long or its response is.
   */
  ask(read: Read): Promise<Answer | undefined> | undefined {
    if (this.#state !== "open" || this.#waiting.size >= mostRead.requests || !fitsBatch(read))
      return undefined;
    if (this.#socket.writableLength > MOST_UNSENT_BYTES) return undefined;
    const number = this.#nextNumber();
    const { restricted, target, id, body } = read;
    this.#send({ number, kind: restricted ? "restricted" : "request", target, id, body });
    if (this.#watchTimer === undefined) {
      this.#silentLooks = 0;
      this.#watchTimer = setInterval(() => this.#watch(), WATCH_MS).unref();
    }
    return new Promise((resolve) => {
      this.#waiting.set(number, { read, resolve, sinceMs: performance.now(), stopWatching: undefined });
    });
  }

  /** Ends the connection: what waits is to be passed on by requests of its own. */
  close(): void {
    if (this.#state === "over") return;
    this.#state = "over";
    clearTimeout(this.#openTimer);
    clearInterval(this.#watchTimer);
    this.#options.signal.removeEventListener("abort", this.#onGone);
    this.#socket.destroy();
    for (const waiting of this.#waiting.values()) {
      waiting.stopWatching?.();
      waiting.resolve(undefined);
    }
    this.#waiting.clear();
  }

  readonly #onGone = () => this.close();

  #nextNumber(): number {
    do this.#lastNumber = (this.#lastNumber + 1) >>> 0;
    while (this.#waiting.has(this.#lastNumber));
    return this.#lastNumber;
  }

  #send(request: ReadRequest): void {
    if (!this.#batch.add(request)) {
      this.#flush();
      this.#batch.add(request);
    }
    this.#flushSoon();
  }

  /** What is asked in one turn of the event loop goes out together. */
  #flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(() => {
      this.#isFlushDue = false;
      if (this.#state === "open") this.#flush();
    });
  }

  #flush(): void {
    if (!this.#batch.isEmpty) this.#socket.write(this.#batch.take(this.#mac));
  }

  #take(bytes: Buffer): void {
    this.#silentLooks = 0;
    this.#isProbed = false;
    const rest = this.#state === "opening" ? this.#open(bytes) : bytes;
    if (this.#state !== "open") return;
    try {
      for (const frame of this.#frames.take(rest)) this.#answer(frame);
    } catch (error) {
      // Only another program answers so; the reads are passed on otherwise.
      this.close();
      if (!(error instanceof BadFrames)) throw error;
    }
  }

  /** Reads the head of the response; returns the bytes behind it. */
  #open(bytes: Buffer): Buffer {
    this.#head = Buffer.concat([this.#head, bytes]);
    const end = this.#head.indexOf(HEAD_END);
    if (end === -1 && this.#head.length <= MOST_HEAD_BYTES) return bytes;
    const rest = this.#head.subarray(end + HEAD_END.length);
    if (end === -1 || !OPENED.test(this.#head.toString("latin1", 0, end))) this.close();
    else {
      clearTimeout(this.#openTimer);
      this.#state = "open";
    }
    this.#head = Buffer.alloc(0);
    return rest;
  }

  #answer(frame: Buffer): void {
    const { number, answer } = responseOf(frame);
    const waiting = this.#waiting.get(number);
    if (waiting === undefined) return;
    this.#waiting.delete(number);
    waiting.stopWatching?.();
    waiting.resolve(answer);
  }

  /** Listens for the callers of reads that take long, and ends a connection on which nothing comes any more. */
  #watch(): void {
    if (this.#waiting.size === 0) {
      clearInterval(this.#watchTimer);
      this.#watchTimer = undefined;
      this.#isProbed = false;
      return;
    }
    this.#probeIfSilent();
    const now = performance.now();
    for (const [number, waiting] of this.#waiting) {
      if (now - waiting.sinceMs < WATCH_MS) return;
      if (waiting.stopWatching !== undefined) continue;
      const { signal } = waiting.read;
      const onLeft = () => this.#leave(number);
      waiting.stopWatching = () => signal.removeEventListener("abort", onLeft);
      signal.addEventListener("abort", onLeft);
      if (signal.aborted) onLeft();
    }
  }

  /**
   * What is between two processes may forget a connection without a word to either: each still is alive to the other, and
   * the system would send again what nobody receives for a quarter of an hour.
   */
  #probeIfSilent(): void {
    const { silentLooks = SILENT_LOOKS } = this.#options;
    if (++this.#silentLooks < silentLooks) return;
    if (this.#isProbed) {
      this.close();
      return;
    }
    this.#silentLooks = 0;
    this.#isProbed = true;
    const probe = { number: this.#nextNumber(), kind: "request", target: PROBE_TARGET } as const;
    this.#send({ ...probe, id: "probe", body: new Uint8Array() });
  }

  #leave(number: number): void {
    const waiting = this.#waiting.get(number);
    if (waiting === undefined) return;
    this.#waiting.delete(number);
    waiting.stopWatching?.();
    this.#send({ number, kind: "left", target: "", id: "", body: new Uint8Array() });
    waiting.resolve(undefined);
  }
}

function openingOf({ address, authorization }: ReadLinkOptions): string {
  const lines = [
    `POST ${READS_PATH} HTTP/1.1`,
    `Host: ${address}`,
    `Authorization: ${authorization}`,
    "Connection: Upgrade",
    "Upgrade: anulo-reads",
    "Content-Length: 0",
  ];
  return `${lines.join("\r\n")}${HEAD_END}`;
}
