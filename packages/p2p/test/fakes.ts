import type { SocksProxy } from "@anulo/socks";
import type { PeerAddress } from "../src/address.ts";
import { ipAddress } from "../src/address.ts";
import type { Clock } from "../src/clock.ts";
import type { NetworkIo } from "../src/connection/network-io.ts";
import { DialFailed } from "../src/connection/tcp.ts";
import type { Transport, TransportEvents } from "../src/connection/transport.ts";
import { createPeerNetwork } from "../src/network.ts";
import type { Endpoint, PeerNetworkOptions } from "../src/options.ts";
import type { CoreSyncData, Peer } from "../src/peer.ts";
import type { PeerNetwork } from "../src/peer-network.ts";

/** Time that passes only on request. */
export class FakeClock implements Clock {
  #now = 1_700_000_000_000;
  #timers = new Set<{ at: number; run: () => void }>();

  seconds(): number {
    return Math.floor(this.#now / 1000);
  }

  milliseconds(): number {
    return this.#now;
  }

  after(milliseconds: number, run: () => void): () => void {
    const timer = { at: this.#now + milliseconds, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How much is still to happen. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Lets time pass, second by second, and what is due happen. */
  async pass(seconds: number): Promise<void> {
    for (let i = 0; i < seconds; i++) {
      this.#now += 1000;
      for (const timer of [...this.#timers].sort((a, b) => a.at - b.at)) {
        if (timer.at > this.#now || !this.#timers.delete(timer)) continue;
        timer.run();
      }
      await settle(30);
    }
  }
}

/** Nothing that peers ask for takes time, however busy the machine is. */
export const stillClock: Clock = { seconds: () => 0, milliseconds: () => 0, after: () => () => {} };

/** Lets everything that is under way come to rest: on a busy machine each message takes a turn of its own. */
export async function settle(turns = 200): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
}

const MAX_IN_FLIGHT = 256 * 1024;

/** One end of a pipe. */
class PipeEnd implements Transport {
  other!: PipeEnd;
  #events: TransportEvents | undefined;
  #arrived: Uint8Array[] = [];
  #inFlight = 0;
  #isPaused = false;
  #isClosed = false;
  #isScheduled = false;

  start(events: TransportEvents): void {
    this.#events = events;
    this.#schedule();
  }

  write(bytes: Uint8Array): boolean {
    if (this.#isClosed || this.other.#isClosed) return true;
    this.other.#arrived.push(new Uint8Array(bytes));
    this.#inFlight += bytes.length;
    this.other.#schedule();
    return this.#inFlight <= MAX_IN_FLIGHT;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#schedule();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    setImmediate(() => {
      this.#events?.closed();
      this.other.#closedByOther();
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  #closedByOther(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#events?.closed();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#events === undefined) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    while (!this.#isPaused && !this.#isClosed && this.#arrived.length > 0) {
      const chunk = this.#arrived.shift()!;
      const wasFull = this.other.#inFlight > MAX_IN_FLIGHT;
      this.other.#inFlight -= chunk.length;
      this.#events!.received(chunk);
      if (wasFull && this.other.#inFlight <= MAX_IN_FLIGHT) this.other.#events?.drained();
    }
  }
}

/** Two ends of a pipe in memory. */
export function createPipe(): [PipeEnd, PipeEnd] {
  const ends: [PipeEnd, PipeEnd] = [new PipeEnd(), new PipeEnd()];
  ends[0].other = ends[1];
  ends[1].other = ends[0];
  return ends;
}

/** A bare end of a connection, as a test speaks through it. */
export interface Caller {
  readonly end: PipeEnd;
  readonly received: () => Uint8Array;
}

/** A network in memory: machines with addresses, and ports they listen on. */
export class FakeInternet {
  readonly dialed: string[] = [];
  readonly names = new Map<string, string[]>();
  readonly texts = new Map<string, string[]>();
  readonly #listeners = new Map<string, (transport: Transport, from: PeerAddress) => void>();
  #nextPort = 50_000;

  /** What a machine with this address has for sockets. */
  wiresOf(ip: string): NetworkIo {
    return {
      listen: async ({ port }, accept) => {
        const key = `${ip}:${port}`;
        this.#listeners.set(key, accept);
        return {
          port,
          close: async () => {
            this.#listeners.delete(key);
          },
        };
      },
      dial: async (target, via, signal) => {
        if (signal.aborted) throw new DialFailed("gave up");
        return this.#dial(ip, target, via);
      },
      lookUp: async (name) => this.names.get(name) ?? [],
      lookUpTexts: async (name) => this.texts.get(name) ?? [],
    };
  }

  #dial(ip: string, target: Endpoint, via: SocksProxy | undefined): Transport {
    const key = `${target.host}:${target.port}`;
    this.dialed.push(via === undefined ? key : `${key} via ${via.port}`);
    const accept = this.#listeners.get(key);
    if (accept === undefined) throw new DialFailed("nobody listens there");
    const [ours, theirs] = createPipe();
    accept(theirs, ipAddress(ip, this.#nextPort++)!);
    return ours;
  }

  /** Connects as a stranger that speaks bytes. */
  call(from: string, to: Endpoint): Caller {
    const end = this.#dial(from, to, undefined) as PipeEnd;
    const chunks: Uint8Array[] = [];
    end.start({ received: (chunk) => void chunks.push(chunk), drained() {}, closed() {} });
    return { end, received: () => Buffer.concat(chunks) };
  }
}

export const networkId = new Uint8Array(16).fill(7);

export function syncDataAt(height: number): CoreSyncData {
  return {
    currentHeight: height,
    topId: new Uint8Array(32).fill(height),
    topVersion: 1,
    cumulativeDifficulty: (1n << 64n) + BigInt(height),
    pruningSeed: 0,
  };
}

/** A network with a diary. */
export interface TestNode {
  readonly network: PeerNetwork;
  readonly events: string[];
  readonly errors: unknown[];
  readonly address: PeerAddress;
  height: number;
}

/** Makes a node at an address of the fake internet, listening on port 18080. */
export function createTestNode(
  internet: FakeInternet,
  clock: Clock,
  options: Partial<PeerNetworkOptions> & { ip: string },
): TestNode {
  const { ip, ...rest } = options;
  const events: string[] = [];
  const errors: unknown[] = [];
  const name = (peer: Peer) => `${peer.direction} ${peer.address.host}`;
  const node: { height: number } = { height: 5 };
  const network = createPeerNetwork(
    {
      networkId,
      listen: [{ host: ip, port: 18080 }],
      syncData: () => syncDataAt(node.height),
      onSyncData: (peer, data) => events.push(`sync ${name(peer)} ${data.currentHeight}`),
      onConnected: (peer) => events.push(`connected ${name(peer)}`),
      onClosed: (peer) => events.push(`closed ${name(peer)}`),
      notifications: [],
      clock,
      workClock: stillClock,
      log: { error: (_, fields) => errors.push(fields), warn() {}, info() {}, debug() {} },
      ...rest,
    },
    internet.wiresOf(ip),
  );
  return Object.assign(node, { network, events, errors, address: ipAddress(ip, 18080)! });
}
