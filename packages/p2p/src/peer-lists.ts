import { isPruningSeed } from "@anulo/protocol";
import {
  formatPeerAddress,
  isLocal,
  isLoopback,
  isSameAddress,
  type PeerAddress,
  zoneOf,
} from "./address.ts";
import { chooseIndex, type RandomSource, sample } from "./random.ts";
import type { PeerEntry } from "./records.ts";

/** A node we heard of. */
export interface KnownPeer {
  readonly address: PeerAddress;
  readonly peerId: bigint;
  /** Unix seconds; 0: never. */
  readonly lastSeen: number;
  readonly pruningSeed: number;
  readonly rpcPort: number;
}

/** Source: cryptonote_config.h `P2P_LOCAL_WHITE_PEERLIST_LIMIT`, `P2P_LOCAL_GRAY_PEERLIST_LIMIT`. */
export const listLimits = { white: 1000, gray: 5000 } as const;

type PeersByAddress = Map<string, KnownPeer>;

/** What an entry says, with what an earlier one knew and it leaves out. */
function merged(entry: KnownPeer, known: KnownPeer | undefined): KnownPeer {
  return {
    ...entry,
    pruningSeed: entry.pruningSeed || (known?.pruningSeed ?? 0),
    rpcPort: entry.rpcPort || (known?.rpcPort ?? 0),
  };
}

function newestFirst(list: PeersByAddress): KnownPeer[] {
  return [...list.values()].sort((a, b) => b.lastSeen - a.lastSeen);
}

/** Whether somebody's word about a node is worth remembering. Source: node_server `sanitize_peerlist`. */
function isPlausible({ adr, rpc_port, pruning_seed }: PeerEntry): boolean {
  if (adr === undefined || isLoopback(adr) || isLocal(adr) || !isPruningSeed(pruning_seed)) return false;
  return zoneOf(adr) !== "public" || (adr.port !== 0 && adr.port !== rpc_port);
}

/**
 * The nodes of one zone: spoken to (white), only heard of (gray). An address is in one of the two.
 * Source: net_peerlist.h `peerlist_manager`.
 */
export class PeerLists {
  readonly #white: PeersByAddress = new Map();
  readonly #gray: PeersByAddress = new Map();
  readonly #random: RandomSource;
  readonly #allowLocal: boolean;

  constructor(options: { random: RandomSource; allowLocal: boolean }) {
    this.#random = options.random;
    this.#allowLocal = options.allowLocal;
  }

  /** Last seen first. */
  get white(): KnownPeer[] {
    return newestFirst(this.#white);
  }

  get gray(): KnownPeer[] {
    return newestFirst(this.#gray);
  }

  get counts(): { white: number; gray: number } {
    return { white: this.#white.size, gray: this.#gray.size };
  }

  isAllowed(address: PeerAddress): boolean {
    return !isLoopback(address) && (this.#allowLocal || !isLocal(address));
  }

  /** Takes somebody's word, as far as it can be true and `isWelcome` agrees. */
  addAnnounced(entries: readonly PeerEntry[], isWelcome: (address: PeerAddress) => boolean): void {
    for (const entry of entries) {
      if (!isPlausible(entry) || !isWelcome(entry.adr!)) continue;
      this.#putGray({
        address: entry.adr!,
        peerId: entry.id,
        lastSeen: 0,
        pruningSeed: entry.pruning_seed,
        rpcPort: entry.rpc_port,
      });
    }
    this.#trimGray();
  }

  addGray(peer: KnownPeer): void {
    this.#putGray(peer);
    this.#trimGray();
  }

  #putGray(peer: KnownPeer): void {
    const key = formatPeerAddress(peer.address);
    if (!this.isAllowed(peer.address) || this.#white.has(key)) return;
    const known = this.#gray.get(key);
    this.#gray.set(key, { ...merged(peer, known), lastSeen: known?.lastSeen ?? peer.lastSeen });
  }

  /** Puts a node into the white list, and out of the gray; one node a host. */
  addWhite(peer: KnownPeer): void {
    const key = formatPeerAddress(peer.address);
    if (!this.isAllowed(peer.address)) return;
    const known = this.#white.get(key);
    if (known === undefined) this.#dropHost(peer.address.host);
    if (known === undefined && this.#white.size >= listLimits.white) this.#dropOldestWhite();
    this.#white.set(key, merged(peer, known));
    this.#gray.delete(key);
  }

  remove(address: PeerAddress, list: "white" | "gray"): void {
    (list === "white" ? this.#white : this.#gray).delete(formatPeerAddress(address));
  }

  /** Forgets all that a test is true of. */
  forget(matches: (address: PeerAddress) => boolean): void {
    for (const list of [this.#white, this.#gray]) {
      for (const [key, { address }] of list) if (matches(address)) list.delete(key);
    }
  }

  /**
   * Nodes to tell others: a random part of the white list, without times, so that nobody learns whom we
   * spoke to lately. Source: net_peerlist.h `get_peerlist_head`; Cao et al., eprint.iacr.org/2019/411.
   */
  sample(count: number): KnownPeer[] {
    return sample([...this.#white.values()], count, this.#random);
  }

  sampleGray(): KnownPeer | undefined {
    const all = [...this.#gray.values()];
    return all[chooseIndex(all.length, this.#random)];
  }

  /** Anybody can fill this list: random ones go, so that no order of arrival decides. */
  #trimGray(): void {
    const tooMany = this.#gray.size - listLimits.gray;
    if (tooMany <= 0) return;
    for (const key of sample([...this.#gray.keys()], tooMany, this.#random)) this.#gray.delete(key);
  }

  #dropOldestWhite(): void {
    const oldest = [...this.#white].reduce((a, b) => (b[1].lastSeen < a[1].lastSeen ? b : a));
    this.#white.delete(oldest[0]);
  }

  #dropHost(host: string): void {
    for (const [key, { address }] of this.#white) if (address.host === host) this.#white.delete(key);
  }
}

/** The entry that tells others of a node. */
export function entryOf({ address, peerId, pruningSeed, rpcPort }: KnownPeer): PeerEntry {
  return {
    adr: address,
    id: peerId,
    last_seen: 0n,
    pruning_seed: pruningSeed,
    rpc_port: rpcPort,
    rpc_credits_per_hash: 0,
  };
}

/** Whether a list of addresses has this one. */
export function includesAddress(list: readonly PeerAddress[], address: PeerAddress): boolean {
  return list.some((other) => isSameAddress(other, address));
}
