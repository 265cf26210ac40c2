/** Asks a node and an idle server beside it at a fixed rate and measures how long each response takes. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect, type Socket } from "node:net";
import type { Latency, ProberOrder } from "./prober.ts";

const TICK_MS = 2;
const CONNECTIONS = 16;
/** How long responses are awaited at the end; what is still open then counts with its age. */
const FINAL_WAIT_MS = 30_000;
const HEAD_END = "\r\n\r\n";

/** One connection: one request at a time, those that are due meanwhile wait and their time runs. */
class Line {
  readonly #port: number;
  readonly #request: Buffer;
  readonly #onDone: (ms: number, isGood: boolean) => void;
  readonly waiting: number[] = [];
  #socket: Socket | undefined;
  #received = Buffer.alloc(0);

  constructor(order: { port: number; request: Buffer; onDone: (ms: number, isGood: boolean) => void }) {
    this.#port = order.port;
    this.#request = order.request;
    this.#onDone = order.onDone;
  }

  ask(due: number): void {
    this.waiting.push(due);
    if (this.waiting.length === 1) this.#sendNext();
  }

  close(): void {
    this.#socket?.destroy();
  }

  #sendNext(): void {
    if (this.waiting.length === 0) return;
    this.#socket ??= this.#open();
    this.#socket.write(this.#request);
  }

  #open(): Socket {
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    this.#received = Buffer.alloc(0);
    socket.on("data", (bytes: Buffer) => this.#receive(bytes));
    socket.on("error", () => {});
    socket.on("close", () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      if (this.waiting.length > 0) this.#done(false);
    });
    return socket;
  }

  #receive(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    const end = this.#received.indexOf(HEAD_END);
    if (end < 0) return;
    const head = this.#received.subarray(0, end).toString("latin1");
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
    if (this.#received.length < end + HEAD_END.length + length) return;
    this.#received = Buffer.alloc(0);
    this.#done(head.startsWith("HTTP/1.1 200"));
  }

  #done(isGood: boolean): void {
    this.#onDone(performance.now() - this.waiting.shift()!, isGood);
    // Not at once: a port that refuses connections would be asked without end.
    setImmediate(() => this.#sendNext());
  }
}

class Sampler {
  readonly #lines: Line[];
  #took: number[] = [];
  #failures = 0;
  #next = 0;

  constructor(port: number, request: Buffer) {
    const onDone = (ms: number, isGood: boolean) => {
      if (isGood) this.#took.push(ms);
      else this.#failures++;
    };
    this.#lines = Array.from({ length: CONNECTIONS }, () => new Line({ port, request, onDone }));
  }

  ask(due: number): void {
    this.#lines[this.#next++ % CONNECTIONS]!.ask(due);
  }

  get isBusy(): boolean {
    return this.#lines.some(({ waiting }) => waiting.length > 0);
  }

  close(): void {
    for (const line of this.#lines) line.close();
  }

  latency(): Latency {
    const now = performance.now();
    const open = this.#lines.flatMap(({ waiting }) => waiting.map((due) => now - due));
    const sorted = [...this.#took, ...open].sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return {
      count: sorted.length,
      failures: this.#failures,
      unanswered: open.length,
      p50: at(0.5),
      p99: at(0.99),
      max: at(1),
    };
  }
}

function requestOf(method: string): Buffer {
  const body = JSON.stringify({ jsonrpc: "2.0", id: "0", method });
  const head = `POST /json_rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.from(head + body);
}

/** The server that does nothing else: what its responses take is the machine's doing, not the node's. */
function startControl(): Promise<number> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => response.end("{}"));
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

function probe({ port, controlPort, perSecond, method }: ProberOrder): void {
  const request = requestOf(method);
  const samplers = { node: new Sampler(port, request), control: new Sampler(controlPort, request) };
  const start = performance.now();
  let requests = 0;
  const timer = setInterval(() => {
    const count = Math.floor(((performance.now() - start) * perSecond) / 1000);
    for (; requests < count; requests++) {
      const due = start + (requests * 1000) / perSecond;
      samplers.node.ask(due);
      samplers.control.ask(due);
    }
  }, TICK_MS);
  process.on("message", async () => {
    clearInterval(timer);
    const deadline = performance.now() + FINAL_WAIT_MS;
    while (samplers.node.isBusy && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
    process.send!({ node: samplers.node.latency(), control: samplers.control.latency() });
    process.disconnect();
    for (const sampler of Object.values(samplers)) sampler.close();
  });
}

if (process.argv[2] === "control") {
  void startControl().then((port) => process.send!(port));
  process.once("disconnect", () => process.exit());
} else {
  process.once("message", (order: ProberOrder) => probe(order));
}
