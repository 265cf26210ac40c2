import { stripeOfSeed } from "@anulo/protocol";
import type { PeerAddress } from "./address.ts";
import { neighbourhoodOf } from "./address.ts";
import type { KnownPeer } from "./peer-lists.ts";
import { chooseIndex, type RandomSource } from "./random.ts";

/** The facts by which the next node to connect to is chosen. */
export interface PeerChoice {
  /** Nodes, last seen first. */
  readonly peers: readonly KnownPeer[];
  /** Nodes to which we are connected or connecting. */
  readonly connected: readonly PeerAddress[];
  isUsable(peer: KnownPeer): boolean;
  /** The stripe of a pruned chain that is needed; 0: any. */
  readonly stripe: number;
  readonly random: RandomSource;
}

/** Number of candidates of the white list. Source: node_server `make_new_connection_from_peerlist`. */
const WHITE_CANDIDATES = 20;

/** Returns one node of each neighbourhood that is not taken, chosen evenly; keeps their order. */
function onePerNeighbourhood(
  peers: readonly KnownPeer[],
  connectedHosts: ReadonlySet<string>,
  random: RandomSource,
): KnownPeer[] {
  const peerOfHost = new Map<string, { peer: KnownPeer; count: number }>();
  for (const peer of peers) {
    const neighbourhood = neighbourhoodOf(peer.address);
    if (connectedHosts.has(neighbourhood)) continue;
    const before = peerOfHost.get(neighbourhood);
    const count = (before?.count ?? 0) + 1;
    const isKept = before !== undefined && chooseIndex(count, random) !== 0;
    peerOfHost.set(neighbourhood, { peer: isKept ? before.peer : peer, count });
  }
  const ones = new Set([...peerOfHost.values()].map(({ peer }) => peer));
  return peers.filter((peer) => ones.has(peer));
}

/** One node per host: those of the wanted stripe first; nodes that keep another stripe are left out. */
function candidates({ peers, isUsable, stripe }: PeerChoice): KnownPeer[] {
  const hosts = new Set<string>();
  const first: KnownPeer[] = [];
  const others: KnownPeer[] = [];
  for (const peer of peers) {
    const { address, pruningSeed } = peer;
    if (hosts.has(address.host)) continue;
    hosts.add(address.host);
    if (!isUsable(peer)) continue;
    if (stripe === 0 || pruningSeed === 0) others.push(peer);
    else if (stripe === stripeOfSeed(pruningSeed)) first.push(peer);
  }
  return [...first, ...others];
}

/** One node of each neighbourhood to which we are not connected; if there is none, all candidates. */
function preferred(choice: PeerChoice): KnownPeer[] {
  const all = candidates(choice);
  const apart = onePerNeighbourhood(all, new Set(choice.connected.map(neighbourhoodOf)), choice.random);
  return apart.length > 0 ? apart : all;
}

/** Chooses a node of the white list; nodes seen more recently are more likely. */
export function chooseWhite(choice: PeerChoice): KnownPeer | undefined {
  const list = preferred(choice).slice(0, WHITE_CANDIDATES);
  const last = list.length - 1;
  if (last <= 0) return list[0];
  // The index is the cube of an evenly chosen number. Source: node_server `get_random_index_with_fixed_probability`.
  const x = chooseIndex(16 * last + 1, choice.random);
  return list[Math.floor(x ** 3 / (last ** 2 * 16 ** 3))];
}

/** Chooses a node of the gray list; all are equally likely. */
export function chooseGray(choice: PeerChoice): KnownPeer | undefined {
  const list = preferred(choice);
  return list[chooseIndex(list.length, choice.random)];
}
