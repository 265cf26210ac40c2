import type { Clock } from "../clock.ts";
import { BadFrame, type Frame, type FrameHeader, frameFlags, requestFrame } from "../levin/frame.ts";
import { FrameReader } from "../levin/frame-reader.ts";
import type { FairShare, Turn } from "../throttle.ts";
import { Pace } from "./pace.ts";
import type { Transport } from "./transport.ts";
import { type ByteBudget, WriteQueue } from "./write-queue.ts";

/** A request that got no good answer: the connection closed, time ran out, or the answer says no. */
export class RequestFailed extends Error {
  override name = "RequestFailed";
}

/** What links of one network share. */
export interface SharedLines {
  readonly clock: Clock;
  readonly up: FairShare;
  readonly down: FairShare;
  /** Messages that wait to go out. */
  readonly queueBudget: ByteBudget;
  /** Messages that are not complete yet. */
  readonly frameBudget: ByteBudget;
}

/** Who a link works for. */
export interface LinkOwner {
  /** Longest payload taken of a request or notification. */
  maxBytes(header: FrameHeader): number;
  /** A request or notification; nothing more is read while its promise is open. */
  onFrame(frame: Frame): Promise<void> | undefined;
  /** Something thrown while reading or by `onFrame`. After a BadFrame nothing more can be read. */
  onError(error: unknown): void;
  onClosed(reason: string): void;
}

interface Waiting {
  readonly command: number;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  deadline: number;
  resolve(payload: Uint8Array): void;
  reject(error: RequestFailed): void;
}

/** Frames handled before others get their turn. */
const FRAMES_IN_A_ROW = 32;
/** Milliseconds of handling them after which they get it in any case. */
const TURN_MS = 10;
/** A piece of an answer this long proves that it is on its way. Source: levin_protocol_handler_async.h `MIN_BYTES_WANTED`. */
const MIN_PROGRESS_BYTES = 512;

/** One connection that speaks levin: frames in, frames out, requests matched with their answers in order. */
export class Link implements Turn {
  readonly #transport: Transport;
  readonly #lines: SharedLines;
  readonly #owner: LinkOwner;
  readonly #reader: FrameReader;
  readonly #queue: WriteQueue;
  readonly #waiting: Waiting[] = [];
  readonly pace: Pace;
  /** What is being handled; nothing is read meanwhile. */
  #holds = 0;
  #isThrottled = false;
  #isPaused = false;
  #isOpen = true;
  #counted = 0;

  constructor(transport: Transport, lines: SharedLines, owner: LinkOwner) {
    this.#transport = transport;
    this.#lines = lines;
    this.#owner = owner;
    this.#reader = new FrameReader((header) => this.#maxBytes(header));
    this.#queue = new WriteQueue(transport, lines.up, lines.queueBudget);
    this.pace = new Pace(lines.clock);
  }

  start(): void {
    this.#transport.start({
      received: (chunk) => this.#received(chunk),
      drained: () => this.#queue.drained(),
      closed: () => this.close("closed by the peer"),
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Bytes of unfinished frames. */
  get held(): number {
    return this.#reader.held;
  }

  /** Bytes waiting to go out. */
  get queued(): number {
    return this.#queue.waiting;
  }

  raiseLimit(): void {
    this.#reader.raiseLimit();
  }

  /** Queues whole frames. False: the link is closed, or closes now because too much waits. */
  send(frames: Uint8Array): boolean {
    if (!this.#isOpen) return false;
    if (this.#queue.push(frames)) {
      this.pace.queued(frames.length);
      return true;
    }
    this.close("does not read what it is sent");
    return false;
  }

  /** Payload of the answer. Rejects with RequestFailed; running out of time closes the link. */
  request(
    command: number,
    payload: Uint8Array,
    { maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number },
  ) {
    return new Promise<Uint8Array>((resolve, reject) => {
      const deadline = this.#lines.clock.milliseconds() + timeoutMs;
      this.#waiting.push({ command, maxBytes, timeoutMs, deadline, resolve, reject });
      if (!this.send(requestFrame(command, payload))) reject(new RequestFailed("the connection is closed"));
    });
  }

  close(reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#queue.close();
    this.#lines.frameBudget.used -= this.#counted;
    this.#lines.down.leave(this);
    this.#transport.close();
    for (const { reject } of this.#waiting.splice(0)) reject(new RequestFailed(reason));
    this.#owner.onClosed(reason);
  }

  /** Looks at the time; to be called about once a second. */
  tick(): void {
    const now = this.#lines.clock.milliseconds();
    const isOurTurn = this.#holds > 0 || this.#isThrottled;
    const [first] = this.#waiting;
    if (first !== undefined && isOurTurn) first.deadline = now + first.timeoutMs;
    if (first !== undefined && now > first.deadline) {
      this.close("no answer in time");
      return;
    }
    const complaint = this.pace.tick({
      isInsideFrame: this.#reader.isInsideFrame && !isOurTurn,
      isIdleOurs: isOurTurn,
      waitingOut: this.#queue.waiting,
      written: this.#queue.written,
    });
    if (complaint !== undefined) this.close(complaint);
  }

  #maxBytes(header: FrameHeader): number {
    if ((header.flags & frameFlags.response) === 0) return this.#owner.maxBytes(header);
    const [first] = this.#waiting;
    if (first?.command !== header.command) throw new BadFrame("an answer nobody asked for");
    return first.maxBytes;
  }

  #received(chunk: Uint8Array): void {
    if (!this.#isOpen) return;
    this.pace.received(chunk.length);
    this.#lines.down.bucket.take(chunk.length);
    const [first] = this.#waiting;
    if (first !== undefined && chunk.length >= MIN_PROGRESS_BYTES) {
      first.deadline = this.#lines.clock.milliseconds() + first.timeoutMs;
    }
    this.#reader.push(chunk);
    if (!this.#lines.down.bucket.isOpen) {
      this.#isThrottled = true;
      this.#lines.down.enter(this);
    }
    this.#read();
  }

  /** Our turn to read again. */
  move(): number {
    this.#isThrottled = false;
    this.#read();
    return 0;
  }

  #read(): void {
    const start = performance.now();
    for (let i = 0; this.#isOpen && this.#holds === 0; i++) {
      if (i === FRAMES_IN_A_ROW || (i > 0 && performance.now() - start > TURN_MS)) {
        this.hold(new Promise((resolve) => setImmediate(resolve)));
        break;
      }
      const frame = this.#nextFrame();
      if (frame === undefined) break;
      this.pace.packetsIn++;
      const handling = this.#handle(frame);
      if (handling !== undefined) this.hold(handling);
    }
    this.#setPaused(this.#holds > 0 || this.#isThrottled);
    this.#countHeld();
  }

  #countHeld(): void {
    if (!this.#isOpen) return;
    const { frameBudget } = this.#lines;
    frameBudget.used += this.#reader.held - this.#counted;
    this.#counted = this.#reader.held;
    if (frameBudget.used > frameBudget.max) frameBudget.exceeded();
  }

  #nextFrame(): Frame | undefined {
    try {
      return this.#reader.next();
    } catch (error) {
      this.#owner.onError(error);
      this.close("cannot be read");
      return undefined;
    }
  }

  #handle(frame: Frame): Promise<void> | undefined {
    if ((frame.header.flags & frameFlags.response) !== 0) {
      this.#answer(frame);
      // Whoever asked acts on the answer before the next frame is looked at.
      return new Promise((resolve) => setImmediate(resolve));
    }
    try {
      return this.#owner.onFrame(frame);
    } catch (error) {
      this.#owner.onError(error);
      return undefined;
    }
  }

  #answer({ header, payload }: Frame): void {
    const first = this.#waiting.shift()!;
    if (header.returnCode > 0) first.resolve(payload);
    else first.reject(new RequestFailed(`the answer to ${header.command} is ${header.returnCode}`));
    const [next] = this.#waiting;
    if (next !== undefined) next.deadline = this.#lines.clock.milliseconds() + next.timeoutMs;
  }

  /** Reads nothing more until this is done. */
  hold(handling: Promise<void>): void {
    this.#holds++;
    handling
      .catch((error: unknown) => this.#owner.onError(error))
      .finally(() => {
        this.#holds--;
        this.#read();
      });
  }

  #setPaused(isPaused: boolean): void {
    if (isPaused === this.#isPaused || !this.#isOpen) return;
    this.#isPaused = isPaused;
    if (isPaused) this.#transport.pause();
    else this.#transport.resume();
  }
}
