import { setTimeout as delay } from "node:timers/promises";
import type { RecordedChain } from "../fixtures.ts";
import type { RunningDaemon } from "../programs/servers.ts";
import { HostileCaller } from "./hostile-caller.ts";
import type { HostileListener } from "./hostile-listener.ts";
import { type Handshake, HostilePeer, openSocket, shakeHands } from "./hostile-peer.ts";

export interface SiegeParts {
  readonly target: RunningDaemon;
  readonly honest: RunningDaemon;
  readonly chain: RecordedChain;
  /** Whom the node calls, where the attack wants to be called. */
  readonly listener: HostileListener | undefined;
  /** How long floods last. */
  readonly seconds: number;
  readonly isShort: boolean;
  /** Numbers of the addresses that earlier attacks used. */
  readonly addresses: { used: number };
}

export interface MeetOptions extends Omit<Handshake, "peerId"> {
  readonly address?: string;
}

const RECONNECT_MS = 100;
const FIRST_PEER_ID = 7n << 40n;
const HOSTS_PER_BYTE = 250;

/** A node under attack, as an attack sees it, and what the attack opened. */
export class Siege {
  readonly target: RunningDaemon;
  readonly honest: RunningDaemon;
  readonly chain: RecordedChain;
  readonly listener: HostileListener | undefined;
  readonly seconds: number;
  readonly isShort: boolean;
  readonly peers: HostilePeer[] = [];
  readonly callers: HostileCaller[] = [];
  /** Peers that were refused, at connecting or at the handshake. */
  refused = 0;
  readonly #addresses: { used: number };
  readonly #deadline: number;

  constructor(parts: SiegeParts) {
    this.target = parts.target;
    this.honest = parts.honest;
    this.chain = parts.chain;
    this.listener = parts.listener;
    this.seconds = parts.seconds;
    this.isShort = parts.isShort;
    this.#addresses = parts.addresses;
    this.#deadline = performance.now() + parts.seconds * 1000;
  }

  get isOver(): boolean {
    return performance.now() >= this.#deadline;
  }

  /** The number for a full attack, or a smaller one for its short form. */
  sized(full: number, short: number): number {
    return this.isShort ? short : full;
  }

  /** An address of this machine that nobody used before. */
  nextAddress(): string {
    const n = this.#addresses.used++;
    const [low, middle] = [n % HOSTS_PER_BYTE, Math.floor(n / HOSTS_PER_BYTE)];
    return `127.${16 + Math.floor(middle / HOSTS_PER_BYTE)}.${1 + (middle % HOSTS_PER_BYTE)}.${1 + low}`;
  }

  /** A connection to the port for peers without a handshake; undefined where it is refused. */
  async connect(address = this.nextAddress()): Promise<HostilePeer | undefined> {
    const socket = await openSocket(this.target.p2pPort, address);
    if (socket === undefined) {
      this.refused++;
      return undefined;
    }
    const peer = new HostilePeer(socket);
    this.peers.push(peer);
    return peer;
  }

  /** A peer that has shaken hands; undefined where it is refused. */
  async meet({ address, ...options }: MeetOptions = {}): Promise<HostilePeer | undefined> {
    const peer = await this.connect(address);
    if (peer === undefined) return undefined;
    const peerId = BigInt(this.#addresses.used) + FIRST_PEER_ID;
    const isMet = await Promise.race([shakeHands(peer, { peerId, ...options }), this.end(false)]);
    if (isMet) return peer;
    this.refused++;
    return undefined;
  }

  async meetMany(count: number, options: MeetOptions = {}): Promise<HostilePeer[]> {
    const met = await Promise.all(Array.from({ length: count }, () => this.meet(options)));
    return met.filter((peer) => peer !== undefined);
  }

  /** So many attackers repeat an act until the attack is over; one that is thrown out comes back to its address. */
  async flood(
    count: number,
    act: (peer: HostilePeer, turn: number) => Promise<unknown>,
    options: MeetOptions = {},
  ): Promise<void> {
    const one = async () => {
      const address = this.nextAddress();
      for (let turn = 0; !this.isOver; ) {
        const peer = await this.meet({ address, ...options });
        while (peer !== undefined && !peer.isClosed && !this.isOver) {
          await Promise.race([act(peer, turn++), peer.closed, this.end()]);
        }
        if (!this.isOver) await delay(RECONNECT_MS);
      }
    };
    await Promise.all(Array.from({ length: count }, one));
  }

  /** A connection to the restricted port, or another. */
  async caller(port = Number(new URL(this.target.restrictedUrl!).port)): Promise<HostileCaller | undefined> {
    const socket = await openSocket(port, this.nextAddress());
    if (socket === undefined) {
      this.refused++;
      return undefined;
    }
    const caller = new HostileCaller(socket);
    this.callers.push(caller);
    return caller;
  }

  /** So many callers repeat an act until the attack is over; one that is thrown out connects again. */
  async floodCalls(count: number, act: (caller: HostileCaller) => Promise<unknown>): Promise<void> {
    const one = async () => {
      while (!this.isOver) {
        const caller = await this.caller();
        while (caller !== undefined && !caller.isClosed && !this.isOver) {
          await Promise.race([act(caller), caller.closed, this.end()]);
        }
        caller?.leave();
        if (!this.isOver) await delay(RECONNECT_MS);
      }
    };
    await Promise.all(Array.from({ length: count }, one));
  }

  /** Resolves when the attack's time is over. */
  async end<T>(value?: T): Promise<T> {
    return (await delay(Math.max(0, this.#deadline - performance.now()), value)) as T;
  }

  /** Lets go of everything that is still open. */
  leave(): void {
    for (const attacker of [...this.peers, ...this.callers]) attacker.leave();
  }
}
