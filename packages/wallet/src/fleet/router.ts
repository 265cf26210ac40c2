/** Routes each call to the process that has its wallet. */
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import {
  ALIVE_PATH,
  type Answer,
  type CheckedPass,
  createForwarder,
  type Elsewhere,
  type InternalTarget,
  misdirected,
  mostRead,
  type NamedRequest,
  NoAnswer,
  NotReached,
  notAllowed,
  type Passed,
  type Passes,
  type Posting,
  READS_PATH,
  ReadLink,
} from "@anulo/rpc";
import { type FleetMember, StoreUnavailable, type WalletLeases } from "@anulo/store";
import { walletNameOf } from "../file/wallet-files.ts";
import type { Membership } from "./membership.ts";
import { LOST, refusal, UNOWNED } from "./route-refusal.ts";

/** Milliseconds that a call waits until its wallet has an owner: a process that dies is replaced sooner. */
const PATIENCE_MS = 12_000;
const RETRY_MS = 100;
/** Milliseconds within which a process answers that it lives, and how often in a row it may fail to. */
const ALIVE_MS = 2000;
const MOST_SILENCES = 3;
/** Milliseconds before a connection for reads that has ended is opened again. */
const REOPEN_MS = 1000;
/** Maximum number of names whose owners are cached. */
const MOST_OWNERS = 100_000;

type Head = Parameters<Elsewhere["passOf"]>[0];

/** The properties of the membership that routing needs. */
type Known = Pick<
  Membership,
  "process" | "address" | "members" | "owned" | "isSure" | "isHere" | "isHandingOver"
>;

export type RouterOptions = {
  /** Undefined until this process has joined. */
  readonly membership: () => Known | undefined;
  readonly leases: Pick<WalletLeases, "ownerOf">;
  readonly passes: Passes;
  /** Whether this process is restricted: then so is what it passes on. */
  readonly restricted: boolean;
  /** Returns milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  /** What other processes may ask of this one, beside calls, by its path. */
  readonly internal?: ReadonlyMap<string, InternalTarget>;
  /** Milliseconds within which another process has to answer that it lives; two seconds by default. */
  readonly aliveMs?: number;
};

/** A request to another process that is no call. */
export type Question = {
  readonly target: string;
  readonly body: Uint8Array;
  /** Maximum size of the answer. */
  readonly mostBytes: number;
  readonly signal: AbortSignal;
};

/** The state that this process keeps of another one while both are members. */
type Peer = {
  /** Aborted once it is no member any more, or has been silent for too long. */
  signalGone: AbortController;
  /** Number of calls that were passed on to it and are not answered yet. */
  calls: number;
  /** Number of times in a row that it has not answered that it lives. */
  silences: number;
  isAsked: boolean;
  /** Whether it has answered before, so that its port knows this process. */
  isGreeted: boolean;
  /** The connection for reads that it has, and when it was opened by `elapsed`. */
  reads: { readonly link: ReadLink; readonly openedAt: number } | undefined;
};

export class Router implements Elsewhere {
  readonly #options: RouterOptions;
  readonly #forwarder = createForwarder();
  readonly #owners = new Map<string, string>();
  readonly #peers = new Map<string, Peer>();
  /** Number of wallets assigned to each member since the members' counts were last queried. */
  readonly #loads = new Map<string, number>();

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  passOf(head: Head): CheckedPass | "misdirected" | undefined {
    const process = this.#options.membership()?.process;
    return this.#options.passes.check(head.authorization, process, head);
  }

  internalAt(target: string): InternalTarget | undefined {
    return this.#options.internal?.get(target);
  }

  /**
   * The answer of another process to what is no call. Throws `NotReached` if nothing was asked, as where it is no member
   * now, and `NoAnswer`.
   */
  async ask(process: string, { target, body, mostBytes, signal }: Question): Promise<Answer> {
    const membership = this.#options.membership();
    const member = membership && othersOf(membership).find((other) => other.process === process);
    if (member === undefined) throw new NotReached("the process is no member");
    const request = { method: "POST", target, idempotencyKey: undefined };
    const passed = { ...request, mayAct: true, restricted: this.#options.restricted };
    const peer = this.#peerOf(member);
    peer.calls += 1;
    try {
      const answer = await this.#post(member, passed, {
        ...request,
        id: "internal",
        body,
        admit: (bytes) => {
          if (bytes > mostBytes) throw new NoAnswer("the answer is too long");
        },
        signals: [signal, peer.signalGone.signal],
      });
      if (answer === undefined || answer.status === misdirected.status)
        throw new NotReached("the process does not answer for this");
      return answer;
    } finally {
      peer.calls -= 1;
    }
  }

  answer(request: NamedRequest): Answer | undefined | Promise<Answer | undefined> {
    // With the ending of its keys file it is the same wallet, and has the same lease.
    const name = walletNameOf(request.name);
    const membership = this.#options.membership();
    const isServed = membership?.isHere(name) === true && !membership.isHandingOver(name);
    return isServed ? undefined : this.#route({ ...request, name });
  }

  /** To be called after each query of the members. */
  update(): void {
    const membership = this.#options.membership();
    const present = new Set(membership?.members.map(({ process }) => process));
    this.#options.passes.useMembers(present);
    for (const [process, { signalGone }] of this.#peers) {
      if (present.has(process)) continue;
      signalGone.abort();
      this.#peers.delete(process);
    }
    this.#loads.clear();
    if (membership === undefined) return;
    for (const member of othersOf(membership)) {
      const { calls, isAsked, isGreeted } = this.#peerOf(member);
      if (!isAsked && (calls > 0 || !isGreeted)) void this.#askIfAlive(member);
    }
  }

  close(): void {
    for (const { signalGone } of this.#peers.values()) signalGone.abort();
    this.#forwarder.close();
  }

  /**
   * Whether a member is certainly gone: nobody listens at its address, or another process does. One that does not answer
   * may only be busy, or cut off from this one. Never rejects.
   */
  async isGone(member: FleetMember): Promise<boolean> {
    return (await this.#signOf(member)) === "gone";
  }

  /** Gives up the calls at a process that does not answer for too long that it lives. Never rejects. */
  async #askIfAlive(member: FleetMember): Promise<void> {
    const peer = this.#peerOf(member);
    peer.isAsked = true;
    const isAlive = (await this.#signOf(member)) === "alive";
    peer.isAsked = false;
    peer.isGreeted ||= isAlive;
    peer.silences = isAlive ? 0 : peer.silences + 1;
    if (peer.silences < MOST_SILENCES || peer.calls === 0) return;
    peer.signalGone.abort();
    peer.signalGone = createSignal();
    peer.silences = 0;
  }

  /** Asks a member whether it lives. */
  async #signOf(member: FleetMember): Promise<"alive" | "gone" | "none"> {
    const { signalGone } = this.#peerOf(member);
    const request = { method: "POST", target: ALIVE_PATH, idempotencyKey: undefined };
    const passed = { ...request, mayAct: false, restricted: true };
    try {
      const answer = await this.#post(member, passed, {
        ...request,
        id: "alive",
        body: new Uint8Array(),
        admit: (bytes) => {
          if (bytes > MOST_ALIVE_BYTES) throw new NoAnswer("the answer is none of this service");
        },
        signals: [AbortSignal.timeout(this.#options.aliveMs ?? ALIVE_MS), signalGone.signal],
      });
      if (answer?.status === misdirected.status) return "gone";
      return answer?.status === 200 ? "alive" : "none";
    } catch (error) {
      return error instanceof NotReached && error.isRefused ? "gone" : "none";
    }
  }

  async #route(request: NamedRequest): Promise<Answer | undefined> {
    const { elapsed } = this.#options;
    const until = elapsed() + PATIENCE_MS;
    for (;;) {
      const place = await this.#placeOf(request);
      if (place === "here") return undefined;
      if (request.isPassedOn) return place === undefined ? refusal(request, UNOWNED) : misdirected;
      const answer = typeof place === "object" ? await this.#passOn(place, request) : undefined;
      if (answer !== undefined) return answer;
      if (elapsed() >= until || request.signal.aborted) return refusal(request, UNOWNED);
      await delay(RETRY_MS);
    }
  }

  /** The process that handles the call, `moving` if another one will soon; undefined if that is not known now. */
  async #placeOf({ name, isPassedOn }: NamedRequest): Promise<"here" | "moving" | FleetMember | undefined> {
    const { leases } = this.#options;
    const membership = this.#options.membership();
    if (!membership?.isSure) return undefined;
    if (membership.isHandingOver(name)) return "moving";
    if (membership.isHere(name)) return "here";
    const memberOf = (process: string) => othersOf(membership).find((member) => member.process === process);
    const likelyOwner = memberOf(this.#owners.get(name) ?? "");
    if (likelyOwner !== undefined && !isPassedOn) return likelyOwner;
    const owner = await leases.ownerOf(name).catch((error) => {
      if (error instanceof StoreUnavailable) return error;
      throw error;
    });
    if (owner instanceof StoreUnavailable) return undefined;
    if (owner === membership.process) return "here";
    if (owner === undefined) return isPassedOn ? "here" : this.#leastLoaded(membership);
    this.#remember(name, owner);
    return memberOf(owner);
  }

  #remember(name: string, owner: string): void {
    if (this.#owners.size >= MOST_OWNERS) this.#owners.clear();
    this.#owners.set(name, owner);
  }

  /** The process that takes a wallet without an owner: the one with the fewest. */
  #leastLoaded(membership: Known): "here" | FleetMember {
    const loadOf = ({ process, owned }: FleetMember) => {
      const load = owned + (this.#loads.get(process) ?? 0);
      // It may have taken over many since the members were queried.
      return process === membership.process ? Math.max(load, membership.owned) : load;
    };
    const own = membership.members.find(({ process }) => process === membership.process);
    let least = own;
    for (const member of othersOf(membership))
      if (least === undefined || loadOf(member) < loadOf(least)) least = member;
    if (least === undefined) return "here";
    this.#loads.set(least.process, (this.#loads.get(least.process) ?? 0) + 1);
    return least === own ? "here" : least;
  }

  /** The response of another process; undefined if it no longer has the wallet, or could not be reached. */
  async #passOn(member: FleetMember, request: NamedRequest): Promise<Answer | undefined> {
    const { id, method, target, idempotencyKey, body, admit } = request;
    const restricted = this.#options.restricted || request.restricted;
    const peer = this.#peerOf(member);
    const signals = [request.signal, peer.signalGone.signal];
    peer.calls += 1;
    try {
      const posting = { id, method, target, idempotencyKey, body, admit, signals };
      const read = await this.#read(member, request, restricted);
      const answer = read ?? (await this.#post(member, { ...request, restricted }, posting));
      if (answer?.status !== misdirected.status) return answer;
    } catch (error) {
      if (error instanceof NoAnswer) return refusal(request, LOST);
      if (!(error instanceof NotReached)) throw error;
    } finally {
      peer.calls -= 1;
    }
    this.#owners.delete(request.name);
    return undefined;
  }

  /**
   * The response to a request together with others; undefined if it needs a request of its own, as what acts does: all
   * that is asked in this way can be asked again. Throws errors of `admit`.
   */
  async #read(member: FleetMember, request: NamedRequest, restricted: boolean): Promise<Answer | undefined> {
    const { method, mayAct, idempotencyKey, target, body, id } = request;
    if (method !== "POST" || !mayAct || idempotencyKey !== undefined || body.length > mostRead.bodyBytes)
      return undefined;
    const { signalGone } = this.#peerOf(member);
    const link = this.#linkTo(member);
    if (link === undefined) return undefined;
    await request.admit(mostRead.answerBytes);
    const answer = await link.ask({
      target,
      body,
      restricted,
      id,
      get signal() {
        return request.signal;
      },
    });
    if (answer === undefined && signalGone.signal.aborted) throw new NoAnswer("the process is gone");
    return answer?.status === notAllowed.status ? undefined : answer;
  }

  /** The open connection for reads to a member. */
  #linkTo({ process, address }: FleetMember): ReadLink | undefined {
    const { membership, elapsed, passes } = this.#options;
    const peer = this.#peerOf({ process });
    const { reads } = peer;
    if (reads !== undefined && !(reads.link.isOver && elapsed() - reads.openedAt > REOPEN_MS))
      return reads.link;
    const from = membership()?.process;
    if (from === undefined) return undefined;
    const passed = { method: "POST", target: READS_PATH, idempotencyKey: undefined, mayAct: false };
    const { restricted } = this.#options;
    const authorization = passes.write({ from, to: process }, { ...passed, restricted }, new Uint8Array());
    const key = passes.linkKeyOf(authorization);
    const link = new ReadLink({ address, authorization, key, signal: peer.signalGone.signal });
    peer.reads = { link, openedAt: elapsed() };
    return link;
  }

  /** Sends a request with its pass; undefined if this process is no member now. Throws as `Forwarder`. */
  async #post(
    { process, address }: FleetMember,
    passed: Passed,
    posting: Omit<Posting, "address" | "authorization">,
  ): Promise<Answer | undefined> {
    const from = this.#options.membership()?.process;
    if (from === undefined) return undefined;
    const authorization = this.#options.passes.write({ from, to: process }, passed, posting.body);
    return await this.#forwarder.passOn({ ...posting, address, authorization });
  }

  #peerOf({ process }: Pick<FleetMember, "process">): Peer {
    const existing = this.#peers.get(process);
    if (existing !== undefined) return existing;
    const peer = {
      signalGone: createSignal(),
      calls: 0,
      silences: 0,
      isAsked: false,
      isGreeted: false,
      reads: undefined,
    };
    this.#peers.set(process, peer);
    return peer;
  }
}

/** Maximum size (bytes) of the answer of a process that lives. */
const MOST_ALIVE_BYTES = 64;

/** Every call that waits adds a listener. */
function createSignal(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** The other members; a former membership of this process, which nobody has ended yet, has its address and no wallets. */
function othersOf({ members, process, address }: Known): FleetMember[] {
  return members.filter((member) => member.process !== process && member.address !== address);
}
