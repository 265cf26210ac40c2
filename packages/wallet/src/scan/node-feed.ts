/** The requests of a scan thread to one node, sent once for all wallets of the thread that use it. */
import { isDeepStrictEqual } from "node:util";
import { connectDaemon, type Daemon, type DaemonAddress } from "../daemon.ts";
import type { NetworkName } from "../state.ts";
import { BlockWalk, beginOf, type Outcome, type Rider } from "./block-walk.ts";
import { createForkCheck } from "./check-forks.ts";
import type { Follower } from "./followers.ts";
import type { FromWorker, PoolSnapshot } from "./messages.ts";
import { type Looker, lookTogether } from "./pool-look.ts";
import { PoolNumbers } from "./pool-numbers.ts";

/**
 * Milliseconds that requests wait for those of other wallets of the node: as long as more of them come, but not longer
 * than `GATHER_MOST_MS`.
 */
const GATHER_MS = 10;
const GATHER_MOST_MS = 200;

/** Collects requests of about the same time in one list. */
class Gathering<T> {
  readonly #most: () => number;
  readonly #begin: (all: T[]) => void;
  #asking: T[] = [];
  #isWaiting = false;

  /** `most`: the number of wallets that can make a request; the list does not wait for more. */
  constructor(most: () => number, begin: (all: T[]) => void) {
    this.#most = most;
    this.#begin = begin;
  }

  add(one: T): void {
    this.#asking.push(one);
    if (this.#asking.length >= this.#most()) this.#go();
    else if (!this.#isWaiting) {
      this.#isWaiting = true;
      this.#waitFor(GATHER_MOST_MS);
    }
  }

  #waitFor(mostMs: number): void {
    const before = this.#asking.length;
    setTimeout(() => {
      if (this.#asking.length === 0) this.#isWaiting = false;
      else if (this.#asking.length === before || mostMs <= 0) this.#go();
      else this.#waitFor(mostMs - GATHER_MS);
    }, GATHER_MS);
  }

  #go(): void {
    this.#isWaiting = false;
    const all = this.#asking;
    this.#asking = [];
    if (all.length > 0) this.#begin(all);
  }
}

type Done = Extract<FromWorker, { kind: "done" }>;

type Asking = {
  readonly looker: Looker;
  readonly resolve: (picture: PoolSnapshot) => void;
  readonly reject: (error: unknown) => void;
};

export class NodeFeed {
  readonly address: DaemonAddress;
  readonly network: NetworkName;
  /** Number of wallets that use the node. */
  users = 0;
  readonly daemon: Daemon;
  readonly #walks = new Set<BlockWalk>();
  readonly #looking = new Gathering<Asking>(
    () => this.users,
    (asking) => void lookFor(this.daemon, asking),
  );
  readonly #gathering = new Gathering<Rider>(
    () => this.users,
    (riders) => this.#begin(riders),
  );

  constructor(address: DaemonAddress, network: NetworkName) {
    this.address = address;
    this.network = network;
    this.daemon = connectDaemon(address);
  }

  /** Scans the pool. Rejects with errors that the node, or this wallet, causes. */
  look(looker: Looker): Promise<PoolSnapshot> {
    return new Promise((resolve, reject) => this.#looking.add({ looker, resolve, reject }));
  }

  /** Scans to the newest block. Rejects with errors that the node, or this wallet, causes. */
  async follow(follower: Follower): Promise<void> {
    let outcome = await this.#ride(follower, (rider) => {
      for (const walk of this.#walks) if (walk.join(rider)) return;
      this.#gathering.add(rider);
    });
    while (outcome !== "done") {
      await follower.whenReady();
      if (follower.isGone) return;
      const isLate = outcome === "late";
      outcome = await this.#ride(follower, (rider) => {
        if (isLate) this.#gathering.add(rider);
        else this.#start(this.#walkOf(rider));
      });
    }
  }

  #ride(follower: Follower, begin: (rider: Rider) => void): Promise<Outcome> {
    return new Promise((end, fail) => begin({ follower, end, fail }));
  }

  /** Starts one walk for the wallets at about the same height, from the lowest of them on. */
  #begin(riders: readonly Rider[]): void {
    const walks: BlockWalk[] = [];
    for (const rider of riders.toSorted((a, b) => beginOf(a.follower) - beginOf(b.follower))) {
      if (walks.some((walk) => walk.join(rider, false))) continue;
      walks.push(this.#walkOf(rider));
    }
    for (const walk of walks) this.#start(walk);
  }

  #walkOf(leader: Rider): BlockWalk {
    const { daemon, network } = this;
    return new BlockWalk({ daemon, checkForks: createForkCheck(network, daemon) }, leader);
  }

  #start(walk: BlockWalk): void {
    this.#walks.add(walk);
    void walk.run().finally(() => this.#walks.delete(walk));
  }
}

async function lookFor(daemon: Daemon, asking: readonly Asking[]): Promise<void> {
  const pictures = lookTogether(
    daemon,
    asking.map(({ looker }) => looker),
  );
  for (const [i, { resolve, reject }] of asking.entries())
    void pictures.then((all) => resolve(all[i]!())).catch(reject);
}

/** The feeds of one scan thread. */
export class NodeFeeds {
  /** The transactions that wallets have seen in pools. */
  readonly poolNumbers: PoolNumbers = new PoolNumbers();
  readonly #feeds = new Set<NodeFeed>();
  readonly #ends = new WeakMap<PoolSnapshot, Done>();
  /** The object with which each feed was last taken: the same for wallets whose messages came as one. */
  readonly #last = new WeakMap<NodeFeed, DaemonAddress>();

  /** The response with this part of the pool: the same object for wallets of which nothing is in the pool. */
  endOf(id: number, pool: PoolSnapshot): Done {
    const existing = this.#ends.get(pool);
    if (existing?.id === id) return existing;
    const end: Done = { kind: "done", id, pool };
    this.#ends.set(pool, end);
    return end;
  }

  /** The feed of a node, until `giveBack`. */
  take(address: DaemonAddress, network: NetworkName): NodeFeed {
    let nearest: NodeFeed | undefined;
    const isSameAddress = (feed: NodeFeed) =>
      this.#last.get(feed) === address || isDeepStrictEqual(feed.address, address);
    for (const feed of this.#feeds) if (feed.network === network && isSameAddress(feed)) nearest = feed;
    const feed = nearest ?? new NodeFeed(address, network);
    this.#feeds.add(feed);
    this.#last.set(feed, address);
    feed.users += 1;
    return feed;
  }

  /** Releases a feed. Connections stay open from one scan to the next, until no wallet uses the node any more. */
  giveBack(feed: NodeFeed): void {
    feed.users -= 1;
    if (feed.users > 0) return;
    this.#feeds.delete(feed);
    feed.daemon.close();
  }
}
