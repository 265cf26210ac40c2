import type { Socket } from "node:net";
import { type MaybePromise, TimeSlice, whenReady } from "@anulo/limits";
import type { Caller } from "../caller-share.ts";
import type { Limits } from "../limits.ts";
import { BadFraming, type BodyReader, createBodyReader } from "./body-reader.ts";
import type { ByteStream, HttpAnswer, OtherProtocol } from "./http-answer.ts";
import { Outgoing } from "./outgoing.ts";
import { parseRequestHead, type RequestHead } from "./request-head.ts";
import type { ResponseBatch } from "./response-batch.ts";
import { Streaming } from "./streaming.ts";

/** The limits of one connection. */
export type ConnectionLimits = Pick<
  Limits,
  "headerBytes" | "slowMs" | "leastRate" | "halfClosedMs" | "keepAliveMs" | "heartbeatMs"
>;

/** Handles the requests of connections. */
export interface HttpService {
  readonly limits: ConnectionLimits;
  /** Opens the accounting of a caller's resources. */
  open(remoteAddress: string): Caller;
  /** Maximum size (bytes) of this request's body. */
  requestBytesOf(head: RequestHead): number;
  /** Checks the head alone: if it returns a response the body is dropped; `cut` ends the connection. */
  screen(head: RequestHead, caller: Caller): HttpAnswer | "cut" | undefined;
  /** Handles a whole request; undefined cuts the connection. Never throws nor rejects. */
  answer(head: RequestHead, body: Buffer | "too large", caller: Caller): MaybePromise<HttpAnswer | undefined>;
  closed(connection: HttpConnection): void;
  /** Called when `screen` lets a request through. */
  accepted?(connection: HttpConnection): void;
}

/** Releases the resources of a response that is not sent. */
function drop(answer: HttpAnswer | undefined): void {
  answer?.hold?.release();
  answer?.stream?.end();
}

const none = Buffer.alloc(0);
const HEAD_END = "\r\n\r\n";
const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
const NO_MORE_ANSWERS =
  "HTTP/1.1 503 Service Unavailable\r\nServer: Epee-based\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
/** Maximum number of unread bytes behind a request that is being processed. */
const MAX_WAITING_BYTES = 64 * 1024;
/** A caller that sends this many bytes at once probably has more to send. */
const LONG_PIECE_BYTES = 16 * 1024;
/** Milliseconds that a stopping server waits for a request that its caller may have sent already. */
const LAST_REQUEST_MS = 50;
/** Milliseconds before the system asks whether a caller that has closed its side of the connection is still there. */
const HALF_CLOSED_PROBE_MS = 5000;
/** Milliseconds for which bytes of a caller that sends too much are still read, so that the response reaches it. */
const DRAIN_MS = 2000;

/** The end of a line, as a number of two bytes. */
const LINE_END = 0x0d0a;
/** Bytes of empty lines that are passed over at once; more are no mistake of a caller. */
const MAX_EMPTY_BYTES = 16;

/** Where a request begins: behind empty lines, such as some callers send after a body. Source: RFC 9112, section 2.2. */
function startOf(input: Buffer): number {
  const most = Math.min(input.length, MAX_EMPTY_BYTES);
  let at = 0;
  while (at + 2 <= most && input.readUInt16BE(at) === LINE_END) at += 2;
  return at;
}

/** First byte of a TLS connection; no HTTP request begins with it. Source: RFC 8446, section 5.1. */
const TLS_HANDSHAKE = 0x16;

/**
 * idle: between requests; head, body: part of a request has arrived; answering: a handler runs or its response is being
 * sent; streaming: a stream is being sent, and further input is dropped; switched: it carries another protocol;
 * draining: the last response is sent, and further input is dropped.
 */
type State = "idle" | "head" | "body" | "answering" | "streaming" | "switched" | "draining" | "closed";

/** One connection: requests are processed one after another, each once the response before it is sent. */
export class HttpConnection {
  readonly socket: Socket;
  readonly #service: HttpService;
  readonly #caller: Caller;
  readonly #batch: ResponseBatch;
  #state: State = "idle";
  #since = performance.now();
  /** Time since it began to process input in this turn of the event loop: other connections get their turns. */
  #turn = new TimeSlice();
  #input: Buffer = none;
  #head: RequestHead | undefined;
  #early: HttpAnswer | undefined;
  #reader: BodyReader | undefined;
  /** The response that is being sent. */
  #sending: Outgoing | undefined;
  /** The stream that is being sent, and bytes that arrived meanwhile. */
  #streaming: Streaming | undefined;
  #dropped = 0;
  #other: OtherProtocol | undefined;
  /** Ends a pause in reading a body. */
  #pauseTimer: NodeJS.Timeout | undefined;
  #hasEnded = false;
  /** True while a handler runs, and until its response is to be sent. */
  #isAwaited = false;
  #isStopping = false;
  /** Reads on in the middle of a body; while a response is awaited, other code decides whether anything is read. */
  readonly #resume = (): void => {
    if (this.#state === "body") this.socket.resume();
  };

  /** `batch` sends responses together with those of other connections. */
  constructor(socket: Socket, service: HttpService, batch: ResponseBatch) {
    this.socket = socket;
    this.#service = service;
    this.#batch = batch;
    this.#caller = service.open(socket.remoteAddress ?? "");
    socket.on("data", (bytes: Buffer) => this.begin(bytes));
    socket.on("end", () => this.#onEnd());
    socket.on("error", () => this.cut());
    socket.on("close", () => this.cut());
  }

  /** Processes bytes that were read from the socket, in a turn of their own. */
  begin(bytes: Buffer): void {
    this.#turn = new TimeSlice();
    this.#caller.share.chargeReceived(bytes.length);
    this.#takeGuarded(bytes);
    this.#readOn(bytes.length);
  }

  /** Reads the rest of a request, once the callers of its share have time again; a long body in turns with others. */
  #readOn(lastBytes: number): void {
    if (this.#state !== "head" && this.#state !== "body") return;
    const { waitMs, turns } = this.#caller.share;
    const isLong = lastBytes >= LONG_PIECE_BYTES;
    if (this.#state === "head" || (waitMs === 0 && !isLong)) return void this.socket.resume();
    this.socket.pause();
    const readNext = () => void whenReady(turns?.next(), this.#resume);
    if (waitMs === 0) readNext();
    else this.#pauseTimer = setTimeout(readNext, waitMs);
  }

  /** Ends the connection at once. */
  cut(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    clearTimeout(this.#pauseTimer);
    this.#sending?.end();
    this.#sending = undefined;
    this.#streaming?.end();
    this.#streaming = undefined;
    this.#other?.end();
    this.#other = undefined;
    this.#input = none;
    this.#reader = undefined;
    this.socket.destroy();
    this.#caller.leave();
    this.#service.closed(this);
  }

  /** Ends the connection as soon as no response is pending; a request on its way is still processed. */
  stop(): void {
    this.#isStopping = true;
    if (this.#state === "streaming") return void this.#stopStream();
    if (this.#state === "answering") return;
    setTimeout(() => {
      if (this.#state !== "answering") this.cut();
    }, LAST_REQUEST_MS);
  }

  /** Ends the connection; a caller that waits for a response is informed that none will come. */
  giveUp(): void {
    this.#batch.sendAll();
    if (!this.#isAwaited) return void this.cut();
    this.#isAwaited = false;
    this.socket.write(NO_MORE_ANSWERS);
    this.#sent(true);
  }

  /** Cuts a connection whose caller takes too long; to be called regularly. */
  checkTime(now: number): void {
    const { slowMs, leastRate, halfClosedMs, keepAliveMs, heartbeatMs } = this.#service.limits;
    const waited = now - this.#since;
    if (this.#streaming !== undefined) {
      const hasLeft = this.#hasEnded && waited > halfClosedMs;
      if (hasLeft || this.#streaming.isStuck(now, slowMs)) this.cut();
      else this.#streaming.beat(now, heartbeatMs);
      return;
    }
    if (this.#state === "answering") {
      // A caller that has closed its side and received nothing for this long has probably left: callers also leave in
      // this way.
      if (this.#isAwaited && this.#hasEnded && waited > halfClosedMs) this.#caller.abandon();
      else if (this.#sending?.isTooSlow(now, { slowMs, leastRate }) === true) this.cut();
      return;
    }
    if (this.#state === "idle" && waited > keepAliveMs) this.cut();
    else if ((this.#state === "head" || this.#state === "body") && waited > slowMs) this.cut();
    else if (this.#state === "draining" && waited > Math.min(DRAIN_MS, slowMs)) this.cut();
  }

  /** Invalid framing ends the connection; any other error is a bug and is thrown on. */
  #cutFor(error: unknown): void {
    if (!(error instanceof BadFraming)) throw error;
    this.cut();
  }

  #takeGuarded(bytes: Buffer): void {
    try {
      this.#caller.share.measure(() => this.#take(bytes));
    } catch (error) {
      this.#cutFor(error);
    }
  }

  #enter(state: State): void {
    this.#state = state;
    this.#since = performance.now();
  }

  #take(bytes: Buffer): void {
    switch (this.#state) {
      case "idle":
        if (startOf(bytes) === bytes.length) return;
        this.#enter("head");
        this.#input = bytes;
        return void this.#readHead();
      case "head":
        this.#input = Buffer.concat([this.#input, bytes]);
        return void this.#readHead();
      case "body":
        return void this.#readBody(bytes);
      case "answering":
        this.#input = this.#input.length === 0 ? bytes : Buffer.concat([this.#input, bytes]);
        if (this.#input.length > MAX_WAITING_BYTES) this.socket.pause();
        return;
      case "streaming":
        this.#dropped += bytes.length;
        if (this.#dropped > MAX_WAITING_BYTES) this.cut();
        return;
      case "switched":
        return void this.#other?.take(bytes);
      default:
        return;
    }
  }

  #readHead(): void {
    const { headerBytes } = this.#service.limits;
    this.#input = this.#input.subarray(startOf(this.#input));
    // A client that tests for TLS is cut at once, so that it does not wait.
    if (this.#input[0] === TLS_HANDSHAKE) return void this.cut();
    const end = this.#input.indexOf(HEAD_END);
    if (end === -1 && this.#input.length <= headerBytes) return;
    const isBounded = end !== -1 && end <= headerBytes;
    const head = isBounded ? parseRequestHead(this.#input.toString("latin1", 0, end)) : undefined;
    if (head === undefined) return void this.cut();
    const early = this.#service.screen(head, this.#caller);
    if (early === "cut") return void this.cut();
    if (early === undefined) this.#service.accepted?.(this);
    const rest = this.#input.subarray(end + HEAD_END.length);
    this.#input = none;
    this.#head = head;
    this.#early = early;
    this.#reader = createBodyReader(head, {
      maxBytes: this.#service.requestBytesOf(head),
      keep: early === undefined,
    });
    this.#state = "body";
    if (head.expectsContinue && rest.length === 0 && !this.#reader.isTooLarge()) this.socket.write(CONTINUE);
    this.#readBody(rest);
  }

  #readBody(bytes: Buffer): void {
    const reader = this.#reader!;
    const rest = reader.isTooLarge() ? undefined : reader.take(bytes);
    if (reader.isTooLarge()) return void this.#answer("too large");
    if (rest === undefined) {
      if (!this.#caller.request.resize(reader.bufferedBytes())) this.cut();
      return;
    }
    const body = reader.body();
    if (!this.#caller.request.resize(body.length)) return void this.cut();
    this.#input = rest;
    this.#answer(body);
  }

  #answer(body: Buffer | "too large"): void {
    const head = this.#head!;
    const early = this.#early;
    this.#enter("answering");
    this.#reader = undefined;
    this.#head = undefined;
    this.#early = undefined;
    if (early !== undefined) return void this.#send(early, head, body === "too large");
    this.#isAwaited = true;
    void whenReady(this.#service.answer(head, body, this.#caller), (answer) => {
      if (this.#state === "closed" || !this.#isAwaited) return void drop(answer);
      this.#caller.request.resize(0);
      if (answer === undefined) return void this.cut();
      this.#batch.add(() => this.#sendAwaited(answer, head, body === "too large"));
    });
  }

  #sendAwaited(answer: HttpAnswer, head: RequestHead, isUnread: boolean): void {
    if (this.#state === "closed") return void drop(answer);
    this.#isAwaited = false;
    this.#caller.share.measure(() => this.#send(answer, head, isUnread));
  }

  #send(answer: HttpAnswer, head: RequestHead, isUnread: boolean): void {
    if (answer.stream !== undefined && head.method !== "HEAD")
      return void this.#stream(answer, answer.stream);
    answer.stream?.end();
    if (answer.switchTo !== undefined) return void this.#switchProtocol(answer, answer.switchTo);
    this.#caller.share.chargeSent(answer.body.length);
    const isLast = answer.closes || head.isLast || isUnread || this.#isStopping;
    const sending = new Outgoing(this.socket, head.method === "HEAD" ? { ...answer, body: "" } : answer);
    if (sending.start()) return void this.#sent(isLast);
    // The caller reads slowly: nothing is read from it meanwhile.
    this.#sending = sending;
    this.socket.pause();
    sending.onSent = () => {
      if (this.#state === "closed") return;
      this.#sending = undefined;
      this.#sent(isLast);
    };
  }

  #switchProtocol({ head }: HttpAnswer, switchTo: NonNullable<HttpAnswer["switchTo"]>): void {
    const rest = this.#input;
    this.#input = none;
    this.#enter("switched");
    this.socket.write(head, "latin1");
    this.#other = switchTo(this.socket);
    if (this.#isStopping) this.cut();
    else if (rest.length > 0) this.#other.take(rest);
  }

  #stream(answer: HttpAnswer, stream: ByteStream): void {
    const streaming = new Streaming(this.socket, stream);
    this.#streaming = streaming;
    this.#input = none;
    this.#enter("streaming");
    // If too much arrived behind the request, nothing is read any more, so the caller's leaving is not noticed either.
    this.socket.resume();
    void streaming.send(answer.head).then((isSent) => {
      if (!isSent || this.#state !== "streaming") return;
      this.#streaming = undefined;
      this.#sent(true);
    });
    if (this.#isStopping) this.#stopStream();
  }

  /** An endless stream is stopped without waiting: data that its reader has not received is dropped. */
  #stopStream(): void {
    this.#streaming?.end();
    this.#streaming = undefined;
    if (this.socket.writableLength > 0) return void this.cut();
    this.#enter("draining");
    this.socket.end(() => this.cut());
  }

  #sent(isLast: boolean): void {
    if (isLast) {
      this.#input = none;
      this.#enter("draining");
      this.socket.resume();
      this.socket.end();
      return;
    }
    if (this.#input.length <= MAX_WAITING_BYTES) this.socket.resume();
    if (this.#input.length > 0) this.#takeWaitingSoon();
    else if (this.#hasEnded) this.cut();
    else this.#enter("idle");
  }

  /** Never called within the response before it, and in another turn of the event loop if this one was long. */
  #takeWaitingSoon(): void {
    if (!this.#turn.isOver) return void queueMicrotask(() => this.#takeWaiting());
    setImmediate(() => {
      this.#turn = new TimeSlice();
      this.#takeWaiting();
    });
  }

  /** Processes what arrived while a request was being processed. */
  #takeWaiting(): void {
    if (this.#state === "closed") return;
    const waiting = this.#input;
    this.#input = none;
    this.#enter("idle");
    this.#takeGuarded(waiting);
    this.#readOn(waiting.length);
    if (this.#hasEnded && this.#state !== "answering" && this.#state !== "draining") this.cut();
  }

  /** The caller sends no more: complete requests still get a response. */
  #onEnd(): void {
    this.#hasEnded = true;
    if (this.#state !== "answering") {
      this.cut();
      return;
    }
    // The system finds out whether anybody is still there, which nothing else would show before the response is sent.
    this.socket.setKeepAlive(true, HALF_CLOSED_PROBE_MS);
  }
}
