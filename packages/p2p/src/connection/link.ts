import { type ByteReservation, TimeSlice } from "@anulo/limits";
import type { Clock } from "../clock.ts";
import { BadFrame, type Frame, type FrameHeader, frameFlags, requestFrame } from "../levin/frame.ts";
import { FrameReader } from "../levin/frame-reader.ts";
import { sharedLimits } from "../shared-limits.ts";
import type { FairShare, Turn } from "../throttle.ts";
import { Pace } from "./pace.ts";
import { PeerMemory, type SharedMemory } from "./peer-memory.ts";
import { PeerWork, type SharedWork } from "./shared-work.ts";
import type { Transport } from "./transport.ts";
import { WriteQueue } from "./write-queue.ts";

/** A request failed: the connection closed, the time ran out, or the answer has an error code. */
export class RequestFailed extends Error {
  override name = "RequestFailed";
}

/** What the links of one network share. */
export interface SharedLines {
  readonly clock: Clock;
  readonly up: FairShare;
  readonly down: FairShare;
  readonly memory: SharedMemory;
  readonly work: SharedWork;
}

/** The owner of a link: it handles the frames and events of the link. */
export interface LinkOwner {
  /** Largest payload (bytes) that is accepted of a request or notification with this header. */
  maxBytes(header: FrameHeader): number;
  /** Whether a request or notification gets a response. */
  hasResponse(header: FrameHeader): boolean;
  /** Handles a request or notification; nothing more is read until the promise settles. */
  onFrame(frame: Frame): Promise<void> | undefined;
  /** Handles an error thrown while reading or by `onFrame`. After a BadFrame nothing more can be read. */
  onError(error: unknown): void;
  onClosed(reason: string): void;
}

interface PendingRequest {
  readonly command: number;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  deadline: number;
  resolve(payload: Uint8Array): void;
  reject(error: RequestFailed): void;
}

/** Frames handled before other connections get their turn. */
const MAX_FRAMES_PER_TURN = 32;
/**
 * A fragment of an answer with this length shows that the answer is arriving. Source: levin_protocol_handler_async.h
 * `MIN_BYTES_WANTED`.
 */
const MIN_PROGRESS_BYTES = 512;

/** One connection that speaks levin: it reads and writes frames and matches requests with their answers in order. */
export class Link implements Turn {
  readonly #transport: Transport;
  readonly #lines: SharedLines;
  readonly #owner: LinkOwner;
  readonly #reader: FrameReader;
  readonly #queue: WriteQueue;
  readonly #pendingRequests: PendingRequest[] = [];
  readonly pace: Pace;
  /** Number of messages being handled; nothing is read meanwhile. */
  #holds = 0;
  #isThrottled = false;
  #isPaused = false;
  #isOpen = true;
  /** Memory that this connection uses; `#arriving` is the part of it for incomplete frames. */
  readonly memory: PeerMemory;
  readonly #arriving: ByteReservation;
  /** Processor time used for messages of this connection. */
  readonly work: PeerWork;

  constructor(transport: Transport, lines: SharedLines, owner: LinkOwner) {
    this.#transport = transport;
    this.#lines = lines;
    this.#owner = owner;
    this.#reader = new FrameReader((header) => this.#maxBytes(header));
    this.memory = new PeerMemory(lines.memory);
    this.#arriving = this.memory.reserve(0)!;
    this.work = new PeerWork(lines.work);
    this.#queue = new WriteQueue(transport, lines.up, this.memory);
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

  /** Bytes waiting to be sent. */
  get queued(): number {
    return this.#queue.waiting;
  }

  /** Resolves once at most `maxBytes` wait to be sent; returns undefined if that is so already. */
  unread(maxBytes: number): Promise<void> | undefined {
    return this.#queue.below(maxBytes);
  }

  raiseLimit(): void {
    this.#reader.raiseLimit();
  }

  /** Queues whole frames. Returns false if the link is closed, or closes now because too many bytes wait. */
  send(frames: Uint8Array): boolean {
    if (!this.#isOpen) return false;
    if (this.#queue.push(frames)) {
      this.pace.queued(frames.length);
      return true;
    }
    this.close("does not read what it is sent");
    return false;
  }

  /**
   * Sends a request; resolves with the payload of the answer, rejects with RequestFailed. A timeout closes the link.
   */
  request(
    command: number,
    payload: Uint8Array,
    { maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number },
  ) {
    return new Promise<Uint8Array>((resolve, reject) => {
      const deadline = this.#lines.clock.milliseconds() + timeoutMs;
      this.#pendingRequests.push({ command, maxBytes, timeoutMs, deadline, resolve, reject });
      if (!this.send(requestFrame(command, payload))) reject(new RequestFailed("the connection is closed"));
    });
  }

  close(reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.memory.close();
    this.work.close();
    this.#queue.close();
    this.#arriving.release();
    this.#lines.down.leave(this);
    this.#transport.close();
    for (const { reject } of this.#pendingRequests.splice(0)) reject(new RequestFailed(reason));
    this.#owner.onClosed(reason);
  }

  /** Checks the timeouts; to be called about once a second. */
  tick(): void {
    const now = this.#lines.clock.milliseconds();
    const isOurTurn = this.#holds > 0 || this.#isThrottled;
    const [first] = this.#pendingRequests;
    if (first !== undefined && isOurTurn) first.deadline = now + first.timeoutMs;
    if (first !== undefined && now > first.deadline) {
      this.close("no answer in time");
      return;
    }
    const complaint = this.pace.tick({
      isInsideFrame: this.#reader.isInsideFrame && !isOurTurn,
      isIdleOurs: isOurTurn,
      waitingOut: this.#queue.waiting,
      writtenBytes: this.#queue.writtenBytes,
    });
    if (complaint !== undefined) this.close(complaint);
  }

  #maxBytes(header: FrameHeader): number {
    if ((header.flags & frameFlags.response) === 0) return this.#owner.maxBytes(header);
    const [first] = this.#pendingRequests;
    if (first?.command !== header.command) throw new BadFrame("an answer nobody asked for");
    return first.maxBytes;
  }

  #received(chunk: Uint8Array): void {
    if (!this.#isOpen) return;
    this.pace.received(chunk.length);
    this.#lines.down.bucket.take(chunk.length);
    const [first] = this.#pendingRequests;
    if (first !== undefined && chunk.length >= MIN_PROGRESS_BYTES) {
      first.deadline = this.#lines.clock.milliseconds() + first.timeoutMs;
    }
    this.#reader.push(chunk);
    if (!this.#lines.down.bucket.isOpen) {
      this.#isThrottled = true;
      this.#lines.down.enter(this);
    }
    // Many peers may send at once: those who come last in a turn of the event loop are not even read then.
    const turn = this.#holds === 0 ? this.work.turn() : undefined;
    if (turn !== undefined) this.hold(turn);
    this.#read();
  }

  /** Reads on, when the shared bandwidth allows it. */
  move(): number {
    this.#isThrottled = false;
    this.#read();
    return 0;
  }

  #read(): void {
    const slice = new TimeSlice();
    for (let i = 0; this.#isOpen && this.#holds === 0; i++) {
      if (i === MAX_FRAMES_PER_TURN || (i > 0 && slice.isOver)) {
        this.hold(slice.yield());
        break;
      }
      const frame = this.work.measure(() => this.#nextFrame());
      if (frame === undefined) break;
      this.pace.packetsIn++;
      const handling = this.#handle(frame);
      if (handling !== undefined) this.#holdFrame(handling, frame.payload.length);
    }
    this.#setPaused(this.#holds > 0 || this.#isThrottled);
    this.#countHeld();
  }

  #countHeld(): void {
    if (this.#isOpen && !this.#arriving.resize(this.#reader.bufferedBytes))
      this.close("sends too much at once");
  }

  /** Reads nothing more until a frame is handled; its bytes are counted until then, even if the connection closes. */
  #holdFrame(handling: Promise<void>, bytes: number): void {
    this.#countHeld();
    const reservation = this.memory.reserve(bytes);
    if (reservation === undefined) this.close("sends too much at once");
    this.hold(handling.finally(() => reservation?.release()));
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
      // The code that sent the request acts on the answer before the next frame is handled.
      return Promise.resolve();
    }
    const { header } = frame;
    const admitted = this.#admit(header);
    if (admitted === undefined) return this.work.measure(() => this.#handleFrame(frame));
    return admitted.then(() =>
      this.#isOpen ? this.work.measure(() => this.#handleFrame(frame)) : undefined,
    );
  }

  /** Resolves when a frame may be handled: the peer has read what it was sent, and it is the peer's turn. */
  #admit(header: FrameHeader): Promise<void> | undefined {
    const unread = this.#owner.hasResponse(header) ? this.unread(sharedLimits.memory.unreadBytes) : undefined;
    return unread === undefined ? this.work.turn() : unread.then(() => this.work.turn());
  }

  #handleFrame(frame: Frame): Promise<void> | undefined {
    try {
      return this.#owner.onFrame(frame);
    } catch (error) {
      this.#owner.onError(error);
      return undefined;
    }
  }

  #answer({ header, payload }: Frame): void {
    const first = this.#pendingRequests.shift()!;
    if (header.returnCode > 0) first.resolve(payload);
    else first.reject(new RequestFailed(`the answer to ${header.command} is ${header.returnCode}`));
    const [next] = this.#pendingRequests;
    if (next !== undefined) next.deadline = this.#lines.clock.milliseconds() + next.timeoutMs;
  }

  /**
   * Reads nothing more until this promise has settled and the event loop has turned: a handler may not have waited at
   * all.
   */
  hold(handling: Promise<void>): void {
    this.#holds++;
    const resumeReading = () => {
      this.#holds--;
      this.#read();
    };
    void handling
      .catch((error: unknown) => this.#owner.onError(error))
      .finally(() => setImmediate(resumeReading));
  }

  #setPaused(isPaused: boolean): void {
    if (isPaused === this.#isPaused || !this.#isOpen) return;
    this.#isPaused = isPaused;
    if (isPaused) this.#transport.pause();
    else this.#transport.resume();
  }
}
