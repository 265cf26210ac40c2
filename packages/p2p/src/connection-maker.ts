import { formatPeerAddress, isSameAddress, type PeerAddress } from "./address.ts";
import { chooseGray, chooseWhite, type PeerChoice } from "./choose-peer.ts";
import type { Peer } from "./peer.ts";
import { includesAddress, type KnownPeer } from "./peer-lists.ts";
import { chooseIndex } from "./random.ts";
import type { PeerZone } from "./zone.ts";

/** The nodes to which a zone opens connections. */
export interface ConnectionTargets {
  /** If there are any, the zone connects to no other nodes. */
  readonly exclusive: readonly PeerAddress[];
  /** Whether any zone has exclusive nodes: then no zone connects to other nodes. */
  readonly isExclusive: boolean;
  readonly priority: readonly PeerAddress[];
  /** Nodes that were connected at the end of the last run. */
  readonly anchors: readonly PeerAddress[];
  /** Nodes that send addresses of others; their names are looked up when they are first needed. */
  seeds(): Promise<readonly PeerAddress[]>;
  /** The stripe of a pruned chain that is needed; 0: any. */
  neededStripe(): number;
  /** Whether we have all blocks of a peer. */
  isSynchronized(peer: Peer): boolean;
}

/** Source: cryptonote_config.h `P2P_DEFAULT_WHITELIST_CONNECTIONS_PERCENT`, `P2P_DEFAULT_ANCHOR_CONNECTIONS_COUNT`. */
const WHITE_FRACTION = 0.7;
const ANCHORS = 2;
/** Connections being opened at the same time: most addresses of the gray list do not answer. */
const MAX_DIALING = 8;
const SEED_INTERVAL_MS = 30_000;
const HOUSEKEEPING_INTERVAL_MS = 60_000;
const MAX_BACKOFF_MS = 60_000;
/** Source: cryptonote_protocol_handler.h `m_sync_search_checker`, `P2P_DEFAULT_SYNC_SEARCH_CONNECTIONS_COUNT`. */
const SEARCH_INTERVAL_MS = 101_000;
const MIN_FETCHING = 2;

/**
 * Opens the connections of a zone, as many as are wanted. Checks once a second what is missing. Source: node_server
 * `connections_maker`, `gray_peerlist_housekeeping`.
 */
export class ConnectionMaker {
  readonly #zone: PeerZone;
  readonly #targets: ConnectionTargets;
  readonly #attempts = new Map<string, { failures: number; at: number }>();
  #anchors: readonly PeerAddress[];
  #nextSeeding = 0;
  #isSeeding = false;
  #nextHousekeeping: number;
  #nextSearch: number;
  /** The address that was replaced last, which is not connected to at once again. */
  #replaced: PeerAddress | undefined;

  constructor(zone: PeerZone, wishes: ConnectionTargets) {
    this.#zone = zone;
    this.#targets = wishes;
    this.#anchors = wishes.anchors;
    this.#nextHousekeeping = this.#now() + HOUSEKEEPING_INTERVAL_MS;
    this.#nextSearch = this.#now() + SEARCH_INTERVAL_MS;
  }

  tick(): void {
    if (this.#zone.options.dial === undefined) return;
    if (this.#targets.isExclusive) {
      this.#keepConnected(this.#targets.exclusive);
      return;
    }
    this.#keepConnected(this.#targets.priority);
    if (this.#zone.lists.counts.white === 0) this.#askSeeds();
    this.#replaceOne();
    this.#fill();
    this.#checkGrayPeer();
  }

  #now(): number {
    return this.#zone.lines.clock.milliseconds();
  }

  get #outgoing(): number {
    return this.#zone.peersOf("out").length + this.#zone.dialing.size;
  }

  get #missingCount(): number {
    return this.#zone.options.maxOut - this.#outgoing;
  }

  #isConnected(address: PeerAddress): boolean {
    const isCalled = includesAddress([...this.#zone.dialing.values()], address);
    return isCalled || this.#zone.peersOf("out").some((peer) => isSameAddress(peer.address, address));
  }

  /** Connects to each of these nodes while it is not connected; the pause grows with every failure. */
  #keepConnected(addresses: readonly PeerAddress[]): void {
    for (const address of addresses) {
      const key = formatPeerAddress(address);
      const attempt = this.#attempts.get(key) ?? { failures: 0, at: 0 };
      const now = this.#now();
      if (this.#isConnected(address)) {
        if (now > attempt.at + MAX_BACKOFF_MS) this.#attempts.delete(key);
        continue;
      }
      if (now < attempt.at || this.#missingCount <= 0 || this.#zone.isBanned(address)) continue;
      const { failures } = attempt;
      this.#attempts.set(key, {
        failures: failures + 1,
        at: now + Math.min(MAX_BACKOFF_MS, 1000 * 2 ** failures),
      });
      void this.#zone.connect(address, "peer");
    }
  }

  #fill(): void {
    while (this.#missingCount > 0 && this.#zone.dialing.size < MAX_DIALING) {
      const address = this.#choose();
      if (address === undefined) {
        if (this.#zone.dialing.size === 0) this.#askSeeds();
        return;
      }
      void this.#zone.connect(address, "peer");
    }
  }

  /**
   * If all outgoing connections are to nodes that have no more than we do, which may be because they deceive us, the
   * newest is replaced by one to another node. Source: cryptonote_protocol_handler.inl `update_sync_search`.
   */
  #replaceOne(): void {
    if (this.#now() < this.#nextSearch) return;
    this.#nextSearch = this.#now() + SEARCH_INTERVAL_MS;
    const peers = this.#zone.peersOf("out");
    const candidates = peers.filter((peer) => this.#targets.isSynchronized(peer));
    const isSearching = this.#missingCount > 0 || peers.length - candidates.length >= MIN_FETCHING;
    const newest = candidates
      .filter(({ address }) => !includesAddress(this.#targets.priority, address))
      .slice(ANCHORS)
      .at(-1);
    if (isSearching || newest === undefined) return;
    this.#replaced = newest.address;
    newest.drop("another may know a better chain");
  }

  #choose(): PeerAddress | undefined {
    const { maxOut } = this.#zone.options;
    const stripe = this.#targets.neededStripe();
    const expectedWhite = stripe === 0 ? Math.floor(maxOut * WHITE_FRACTION) : maxOut;
    const white = () => chooseWhite(this.#choice(this.#zone.lists.white, stripe));
    const gray = () => chooseGray(this.#choice(this.#zone.lists.gray, stripe));
    const anchor = this.#nextAnchor();
    if (anchor !== undefined) return anchor;
    return (this.#outgoing >= expectedWhite ? (gray() ?? white()) : (white() ?? gray()))?.address;
  }

  #choice(peers: readonly KnownPeer[], stripe: number): PeerChoice {
    const connected = [...this.#zone.peers.map(({ address }) => address), ...this.#zone.dialing.values()];
    return { peers, stripe, connected, random: this.#zone.random, isUsable: (peer) => this.#isUsable(peer) };
  }

  #isUsable({ address, peerId }: KnownPeer): boolean {
    if (this.#isConnected(address) || !this.#zone.canDial(address)) return false;
    if (this.#replaced !== undefined && isSameAddress(address, this.#replaced)) return false;
    if (this.#zone.zone !== "public") return true;
    if (peerId === this.#zone.nodeData().peer_id) return false;
    return !this.#zone.hasPeer(address.host, peerId);
  }

  #nextAnchor(): PeerAddress | undefined {
    if (this.#outgoing >= ANCHORS) return undefined;
    const [anchor, ...rest] = this.#anchors;
    if (anchor === undefined) return undefined;
    this.#anchors = rest;
    const isUsable = !this.#isConnected(anchor) && this.#zone.canDial(anchor);
    return isUsable ? anchor : this.#nextAnchor();
  }

  #askSeeds(): void {
    if (this.#isSeeding || this.#now() < this.#nextSeeding) return;
    this.#isSeeding = true;
    void this.#askOneSeed()
      .catch((error: unknown) => this.#zone.log.error("asking seed nodes failed", { error }))
      .finally(() => {
        this.#isSeeding = false;
        this.#nextSeeding = this.#now() + SEED_INTERVAL_MS;
      });
  }

  /** Tries the seed nodes in turn, beginning with a random one, until one sends its peer list. */
  async #askOneSeed(): Promise<void> {
    const seeds = await this.#targets.seeds();
    const first = chooseIndex(seeds.length, this.#zone.random);
    for (let i = 0; i < seeds.length; i++) {
      const seed = seeds[(first + i) % seeds.length]!;
      if (this.#isConnected(seed) || this.#zone.isBanned(seed)) continue;
      if (await this.#zone.connect(seed, "list")) return;
    }
  }

  /** Once a minute, connects to a random node of the gray list: it moves to the white list, or is removed. */
  #checkGrayPeer(): void {
    if (this.#now() < this.#nextHousekeeping) return;
    this.#nextHousekeeping = this.#now() + HOUSEKEEPING_INTERVAL_MS;
    const peer = this.#zone.lists.sampleGray();
    if (peer === undefined || this.#isConnected(peer.address)) return;
    void this.#zone.connect(peer.address, "list").then((isThere) => {
      if (!isThere) this.#zone.lists.remove(peer.address, "gray");
    });
  }
}
