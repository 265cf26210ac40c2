import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { ByteBudget } from "@anulo/limits";
import {
  type Blame,
  type Clock,
  type CoreSyncData,
  type Notification,
  type Peer,
  PeerFault,
  systemClock,
} from "@anulo/p2p";
import { BadBytes, toHex, writeRecord } from "@anulo/protocol";
import { unreadLog } from "@anulo/rpc";
import type { OpenChain } from "../src/chain/open-chain.ts";
import { PeerProtocol, type PeerProtocolOptions } from "../src/peers/peer-protocol.ts";

/** A chain that speaks to others as peers, without sockets. */
export interface TestNode {
  readonly chain: OpenChain;
  readonly protocol: PeerProtocol;
  /** Bugs and drops, as they happened. */
  readonly faults: unknown[];
}

/** Length in blocks of a node's chain. */
export const heightOf = ({ chain }: TestNode): number => chain.parts.store.read.height();
/** Id of the newest block of a node's chain, in hexadecimal. */
export const topOf = ({ chain }: TestNode): string => toHex(chain.parts.state.view().topId);

/** Stops what speaks and closes its chain. */
export async function stopNode({ protocol, chain }: TestNode): Promise<void> {
  await protocol.stop();
  await chain.close();
}

/** The machine's clock, but what is put off happens a hundred times sooner. */
const hasty: Clock = {
  ...systemClock,
  after: (milliseconds, run) => systemClock.after(milliseconds / 100, run),
};

/** A clock that stands still until it is moved. */
export interface StillClock extends Clock {
  /** Lets some seconds pass: what was put off until then happens. */
  pass(seconds: number): void;
}

/** Starts at a moment in Unix seconds. */
export function stillClock(start: number): StillClock {
  let now = start * 1000;
  let due: { readonly at: number; readonly run: () => void }[] = [];
  return {
    seconds: () => Math.floor(now / 1000),
    milliseconds: () => now,
    after(milliseconds, run) {
      const entry = { at: now + milliseconds, run };
      due.push(entry);
      return () => {
        due = due.filter((other) => other !== entry);
      };
    },
    pass(seconds) {
      const end = now + seconds * 1000;
      for (;;) {
        const next = due.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        due = due.filter((other) => other !== next);
        now = next.at;
        next.run();
      }
      now = end;
    },
  };
}

/** Makes a chain speak. */
export function speaking(chain: OpenChain, options: Partial<PeerProtocolOptions> = {}): TestNode {
  const faults: unknown[] = [];
  const log = { ...unreadLog(), error: (_: string, fields: unknown) => void faults.push(fields) };
  const { parts, events } = chain;
  const protocol = new PeerProtocol({ parts, events, isOffline: false, log, clock: hasty, ...options });
  protocol.start();
  return { chain, protocol, faults };
}

/** What a peer was dropped for. */
export interface Dropped {
  readonly reason: string;
  readonly blame: Blame | undefined;
}

/** One end of a connection: what the node there sees of the node at the other end. */
export interface End {
  readonly peer: Peer;
  /** Told of each message that arrives here; may replace its bytes, or lose it. */
  tamper: ((id: number, bytes: Uint8Array) => Uint8Array | "lost") | undefined;
  dropped: Dropped | undefined;
}

interface Wiring {
  readonly from: TestNode;
  readonly to: TestNode;
  readonly direction: "in" | "out";
  readonly host: string;
  close(): void;
  isOpen(): boolean;
}

interface PeerParts extends Omit<Met, "zone"> {
  readonly zone?: Peer["zone"];
  /** What is sent to the peer goes here. */
  readonly heard: { push(message: { id: number; bytes: Uint8Array }): unknown };
  syncData(): CoreSyncData;
  isOpen(): boolean;
  drop(reason: string, blame?: Blame): void;
}

function makePeer(parts: PeerParts): Peer {
  const { host, direction, zone = "public", syncData, isOpen, drop, heard, onWork, lastReceived } = parts;
  const { reserve = reserveMuch } = parts;
  const now = () => Math.floor(Date.now() / 1000);
  return {
    peerId: 7n,
    connectionId: new Uint8Array(randomBytes(16)),
    address: { kind: "ipv4", host, port: 18080 },
    direction,
    zone,
    get syncData() {
      return syncData();
    },
    supportFlags: 1,
    rpcPort: 0,
    since: now(),
    traffic: {
      received: 0,
      sent: 0,
      receiveRate: 0,
      sendRate: 0,
      get lastReceived() {
        return lastReceived?.() ?? 0;
      },
      lastSent: 0,
    },
    queuedBytes: 0,
    slicing: onWork === undefined ? {} : { onWork },
    unread: () => undefined,
    reserve,
    get isOpen() {
      return isOpen();
    },
    notify({ id, payload }, body) {
      if (!isOpen()) return false;
      heard.push({ id, bytes: writeRecord(payload, body) });
      return true;
    },
    send: isOpen,
    drop,
  };
}

/** The end at `to`, through which it sees `from`; what is notified here arrives at the other end. */
function makeEnd(
  wiring: Wiring,
  other: () => End,
): End & { readonly receive: (id: number, bytes: Uint8Array) => void } {
  const { from, to, direction, host } = wiring;
  let inbox: Promise<void> = Promise.resolve();
  const end: End = { tamper: undefined, dropped: undefined, peer: undefined as unknown as Peer };
  const drop = (reason: string, blame?: Blame) => {
    if (!wiring.isOpen()) return;
    end.dropped = { reason, blame };
    wiring.close();
  };
  const take = async (id: number, bytes: Uint8Array) => {
    const handler = to.protocol.notifications.find((known) => known.id === id);
    if (handler === undefined || !wiring.isOpen()) return;
    try {
      if (bytes.length > handler.cost.requestBytes) throw new PeerFault("a message too long");
      const arrived = end.tamper?.(id, bytes) ?? bytes;
      if (arrived !== "lost") await handler.receive(end.peer, arrived);
    } catch (error) {
      if (error instanceof PeerFault) drop(error.message, error.blame);
      else if (error instanceof BadBytes) drop(error.message);
      else to.faults.push(error);
    }
  };
  const heard = {
    push: ({ id, bytes }: { id: number; bytes: Uint8Array }) =>
      (other() as ReturnType<typeof makeEnd>).receive(id, bytes),
  };
  const { isOpen } = wiring;
  const peer = makePeer({
    host,
    direction,
    isOpen,
    drop,
    heard,
    syncData: () => from.protocol.syncData(),
  });
  const receive = (id: number, bytes: Uint8Array) => {
    inbox = inbox.then(() => setImmediate()).then(() => take(id, bytes));
  };
  return Object.assign(end, { peer, receive });
}

/** Connects two nodes; `a` is the one that dialled. The ends are what each sees of the other. */
export function connect(a: TestNode, b: TestNode, host = "10.0.0.1"): { atA: End; atB: End; close(): void } {
  let isOpen = true;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    a.protocol.onClosed(atA.peer);
    b.protocol.onClosed(atB.peer);
  };
  const shared = { close, isOpen: () => isOpen, host };
  const atA: End = makeEnd({ from: b, to: a, direction: "out", ...shared }, () => atB);
  const atB: End = makeEnd({ from: a, to: b, direction: "in", ...shared }, () => atA);
  a.protocol.onConnected(atA.peer);
  b.protocol.onConnected(atB.peer);
  return { atA, atB, close };
}

/** A peer that is no node: it says what the test wants. */
export interface Stranger {
  readonly peer: Peer;
  /** Messages the node sent it. */
  readonly heard: { readonly id: number; readonly bytes: Uint8Array }[];
  readonly dropped: Dropped | undefined;
  /** Says something; resolves when the node has dealt with it. */
  say<T>(notification: Notification<T>, body: T): Promise<void>;
  sayBytes(id: number, bytes: Uint8Array): Promise<void>;
  /** Tells of a chain, as in a timed sync. */
  claim(data: Partial<CoreSyncData>): void;
  leave(): void;
}

interface Met {
  readonly host: string;
  readonly direction: Peer["direction"];
  readonly zone: Peer["zone"];
  /** Told of the processor time (milliseconds) that is charged to it. */
  readonly onWork?: (milliseconds: number) => void;
  /** When (Unix seconds) bytes of it came last; long ago by default. */
  readonly lastReceived?: () => number;
  /** Room for what is kept for it; by default enough. */
  readonly reserve?: Peer["reserve"];
}

const reserveMuch: Peer["reserve"] = (bytes) => new ByteBudget(128 * 1024 * 1024).reserve(bytes);

/** Lets a stranger connect to a node, with a chain like the node's save for what `claims` says. */
export function meetStranger(
  node: TestNode,
  claims: Partial<CoreSyncData> = {},
  { host = "10.0.0.66", direction = "in", zone = "public", ...rest }: Partial<Met> = {},
): Stranger {
  let isOpen = true;
  const self = { dropped: undefined as Dropped | undefined };
  const heard: Stranger["heard"] = [];
  const data = () => ({ ...node.protocol.syncData(), ...claims });
  const close = () => {
    isOpen = false;
    node.protocol.onClosed(peer);
  };
  const drop = (reason: string, blame?: Blame) => {
    if (!isOpen) return;
    self.dropped = { reason, blame };
    close();
  };
  const guarded = async (run: () => unknown) => {
    try {
      await run();
    } catch (error) {
      if (error instanceof PeerFault) drop(error.message, error.blame);
      else if (error instanceof BadBytes) drop(error.message);
      else node.faults.push(error);
    }
  };
  const met = { host, direction, zone, ...rest };
  const peer = makePeer({ ...met, syncData: data, isOpen: () => isOpen, drop, heard });
  void guarded(() => {
    node.protocol.onSyncData(peer, data());
    node.protocol.onConnected(peer);
  });
  const sayBytes = (id: number, bytes: Uint8Array) =>
    guarded(() =>
      isOpen ? node.protocol.notifications.find((known) => known.id === id)?.receive(peer, bytes) : 0,
    );
  return {
    peer,
    heard,
    get dropped() {
      return self.dropped;
    },
    sayBytes,
    say: ({ id, payload }, body) => sayBytes(id, writeRecord(payload, body)),
    claim: (told) => void guarded(() => node.protocol.onSyncData(peer, { ...data(), ...told })),
    leave: close,
  };
}

/** Waits for the next events of a chain until the test holds. */
export function until(node: TestNode, holds: () => boolean): Promise<void> {
  if (holds()) return Promise.resolve();
  return new Promise((resolve, reject) => {
    let isDone = false;
    const timer = setTimeout(() => finish(new Error("what was waited for did not happen")), 300_000);
    const poll = setInterval(() => check(), 2);
    const end = node.chain.events.listen(() => void setImmediate().then(check));
    const finish = (error?: Error) => {
      isDone = true;
      clearTimeout(timer);
      clearInterval(poll);
      end();
      if (error === undefined) resolve();
      else reject(error);
    };
    const check = () => {
      if (isDone) return;
      if (node.faults.length > 0) finish(node.faults[0] as Error);
      else if (holds()) finish();
    };
  });
}
