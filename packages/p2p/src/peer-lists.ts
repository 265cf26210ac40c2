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

/** A node that was announced to us or that we were connected to. */
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

/** The entry, with values of the earlier entry where the new one has none. */
function merged(entry: KnownPeer, previous: KnownPeer | undefined): KnownPeer {
  return {
    ...entry,
    pruningSeed: entry.pruningSeed || (previous?.pruningSeed ?? 0),
    rpcPort: entry.rpcPort || (previous?.rpcPort ?? 0),
  };
}

function newestFirst(list: PeersByAddress): KnownPeer[] {
  return [...list.values()].sort((a, b) => b.lastSeen - a.lastSeen);
}

/** Whether an announced entry is plausible enough to be stored. Source: node_server `sanitize_peerlist`. */
function isPlausible({ adr, rpc_port, pruning_seed }: PeerEntry): boolean {
  if (adr === undefined || isLoopback(adr) || isLocal(adr) || !isPruningSeed(pruning_seed)) return false;
  return zoneOf(adr) !== "public" || (adr.port !== 0 && adr.port !== rpc_port);
}

/**
 * The nodes of one zone: those that were reached (white) and those that were only announced (gray). An address is in
 * one of the two. Source: net_peerlist.h `peerlist_manager`.
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

  /** Adds announced entries that are plausible and that `isWelcome` accepts. */
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
    const listed = this.#gray.get(key);
    this.#gray.set(key, { ...merged(peer, listed), lastSeen: listed?.lastSeen ?? peer.lastSeen });
  }

  /** Moves a node into the white list and out of the gray list; the list has one node per host. */
  addWhite(peer: KnownPeer): void {
    const key = formatPeerAddress(peer.address);
    if (!this.isAllowed(peer.address)) return;
    const listed = this.#white.get(key);
    if (listed === undefined) this.#dropHost(peer.address.host);
    if (listed === undefined && this.#white.size >= listLimits.white) this.#dropOldestWhite();
    this.#white.set(key, merged(peer, listed));
    this.#gray.delete(key);
  }

  remove(address: PeerAddress, list: "white" | "gray"): void {
    (list === "white" ? this.#white : this.#gray).delete(formatPeerAddress(address));
  }

  /** Removes all addresses that match. */
  forget(matches: (address: PeerAddress) => boolean): void {
    for (const list of [this.#white, this.#gray]) {
      for (const [key, { address }] of list) if (matches(address)) list.delete(key);
    }
  }

  /**
   * Nodes to send to others: a random part of the white list, without times, so that our recent connections are not
   * revealed. Source: net_peerlist.h `get_peerlist_head`; Cao et al., eprint.iacr.org/2019/411.
   */
  sample(count: number): KnownPeer[] {
    return sample([...this.#white.values()], count, this.#random);
  }

  sampleGray(): KnownPeer | undefined {
    const all = [...this.#gray.values()];
    return all[chooseIndex(all.length, this.#random)];
  }

  /** Any peer can fill this list, so random entries are removed: no order of arrival protects an entry. */
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

/** The entry that announces a node to others. */
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

/** Whether the list contains this address. */
export function includesAddress(list: readonly PeerAddress[], address: PeerAddress): boolean {
  return list.some((other) => isSameAddress(other, address));
}
