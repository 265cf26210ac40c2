/** Reads that another process of the service passes on over one connection, many at a time. */
import type { Socket } from "node:net";
import { type MaybePromise, TimeSlice, whenReady } from "@anulo/limits";
import {
  BadFrames,
  BatchMac,
  FrameReader,
  mostRead,
  type ReadRequest,
  requestsOf,
  responseFrame,
} from "../peers/read-frames.ts";
import type { HeldAnswer } from "./admission.ts";
import { type Answer, overloaded } from "./answer.ts";
import type { Caller, CallerShare } from "./caller-share.ts";
import type { OtherProtocol } from "./http/http-answer.ts";

export type ReadPortOptions = {
  readonly share: CallerShare;
  /** Of the pass with which the connection began. */
  readonly key: Uint8Array;
  /** Answers a read, which must not change anything; undefined if its caller has left. Never throws nor rejects. */
  readonly answer: (read: ReadRequest, caller: Caller) => MaybePromise<HeldAnswer | undefined>;
};

/** Maximum number of bytes of responses that the other process has not received. */
const MOST_UNSENT_BYTES = 2 ** 20;

/** The requests of one such connection, each counted and bounded as one of a connection of its own. */
export class ReadPort implements OtherProtocol {
  readonly #socket: Socket;
  readonly #options: ReadPortOptions;
  readonly #frames = new FrameReader(mostRead.batchBytes);
  readonly #mac: BatchMac;
  /** Those under way, by their number. */
  readonly #callers = new Map<number, Caller>();
  /** Those that wait for the next slice. */
  #queue: ReadRequest[] = [];
  #isWorking = false;
  #responses: Buffer[] = [];
  #isSendDue = false;
  #isOver = false;

  constructor(socket: Socket, options: ReadPortOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#mac = new BatchMac(options.key);
    socket.setKeepAlive(true);
    socket.on("drain", () => socket.resume());
  }

  take(bytes: Buffer): void {
    try {
      for (const frame of this.#frames.take(bytes)) this.#enqueue(requestsOf(frame, this.#mac));
    } catch (error) {
      if (!(error instanceof BadFrames)) throw error;
      // No process of this service sends such bytes.
      this.#socket.destroy();
      return;
    }
    if (!this.#isWorking) this.#work();
  }

  end(): void {
    this.#isOver = true;
    for (const caller of this.#callers.values()) caller.leave();
    this.#callers.clear();
  }

  #enqueue(requests: readonly ReadRequest[]): void {
    for (const request of requests) {
      const isTooMany = this.#queue.length + this.#callers.size >= mostRead.requests;
      if (request.kind === "left") this.#leave(request.number);
      else if (isTooMany) this.#respond(request.number, undefined);
      else this.#queue.push(request);
    }
  }

  /** Handles what waits, slice by slice. */
  #work(): void {
    const slice = new TimeSlice();
    const queue = this.#queue;
    this.#queue = [];
    let at = 0;
    while (at < queue.length && !slice.isOver) this.#handle(queue[at++]!);
    this.#send();
    this.#queue = at === queue.length ? this.#queue : [...queue.slice(at), ...this.#queue];
    this.#isWorking = this.#queue.length > 0;
    if (this.#isWorking) setImmediate(() => this.#options.share.measure(() => this.#work()));
  }

  #handle(read: ReadRequest): void {
    const { share, answer } = this.#options;
    const { number, body } = read;
    if (this.#isOver || this.#callers.has(number)) return;
    const caller = share.open(this.#socket.remoteAddress ?? "");
    this.#callers.set(number, caller);
    const result = caller.request.resize(body.length)
      ? answer(read, caller)
      : { answer: overloaded, hold: undefined };
    void whenReady(result, (response) => {
      // It has left meanwhile.
      if (this.#callers.get(number) !== caller) return void response?.hold?.release();
      this.#callers.delete(number);
      caller.leave();
      this.#respond(number, response?.answer);
      response?.hold?.release();
    });
  }

  #leave(number: number): void {
    this.#queue = this.#queue.filter((request) => request.number !== number);
    this.#callers.get(number)?.leave();
    this.#callers.delete(number);
  }

  #respond(number: number, answer: Answer | undefined): void {
    if (this.#isOver) return;
    this.#responses.push(responseFrame(number, answer));
    if (this.#isSendDue) return;
    this.#isSendDue = true;
    setImmediate(() => this.#send());
  }

  /** Responses that are ready in one turn of the event loop go out together. */
  #send(): void {
    this.#isSendDue = false;
    if (this.#isOver || this.#responses.length === 0) return;
    const responses = this.#responses.length === 1 ? this.#responses[0]! : Buffer.concat(this.#responses);
    this.#responses = [];
    this.#options.share.chargeSent(responses.length);
    this.#socket.write(responses);
    // Nothing more is read until the other process has received it.
    if (this.#socket.writableLength > MOST_UNSENT_BYTES) this.#socket.pause();
  }
}
