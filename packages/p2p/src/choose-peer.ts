import { stripeOfSeed } from "@anulo/protocol";
import type { PeerAddress } from "./address.ts";
import { neighbourhoodOf } from "./address.ts";
import type { KnownPeer } from "./peer-lists.ts";
import { chooseIndex, type RandomSource } from "./random.ts";

/** What decides whom to call next. */
export interface PeerChoice {
  /** Last seen first. */
  readonly known: readonly KnownPeer[];
  /** Nodes we are connected to or calling. */
  readonly connected: readonly PeerAddress[];
  isUsable(peer: KnownPeer): boolean;
  /** The part of a pruned chain that is wanted; 0: any. */
  readonly stripe: number;
  readonly random: RandomSource;
}

/** Candidates of the white list that are looked at. Source: node_server `make_new_connection_from_peerlist`. */
const WHITE_CANDIDATES = 20;

/** Of each neighbourhood but these one node, each as likely; in their order. */
function onePerNeighbourhood(
  peers: readonly KnownPeer[],
  taken: ReadonlySet<string>,
  random: RandomSource,
): KnownPeer[] {
  const chosen = new Map<string, { peer: KnownPeer; seen: number }>();
  for (const peer of peers) {
    const neighbourhood = neighbourhoodOf(peer.address);
    if (taken.has(neighbourhood)) continue;
    const before = chosen.get(neighbourhood);
    const seen = (before?.seen ?? 0) + 1;
    const isKept = before !== undefined && chooseIndex(seen, random) !== 0;
    chosen.set(neighbourhood, { peer: isKept ? before.peer : peer, seen });
  }
  const ones = new Set([...chosen.values()].map(({ peer }) => peer));
  return peers.filter((peer) => ones.has(peer));
}

/** One node a host, those of the wanted stripe first, those of another left out. */
function candidates({ known, isUsable, stripe }: PeerChoice): KnownPeer[] {
  const hosts = new Set<string>();
  const first: KnownPeer[] = [];
  const others: KnownPeer[] = [];
  for (const peer of known) {
    const { address, pruningSeed } = peer;
    if (hosts.has(address.host)) continue;
    hosts.add(address.host);
    if (!isUsable(peer)) continue;
    if (stripe === 0 || pruningSeed === 0) others.push(peer);
    else if (stripe === stripeOfSeed(pruningSeed)) first.push(peer);
  }
  return [...first, ...others];
}

/** One of each neighbourhood we are not connected to; where there is none, any. */
function preferred(choice: PeerChoice): KnownPeer[] {
  const all = candidates(choice);
  const apart = onePerNeighbourhood(all, new Set(choice.connected.map(neighbourhoodOf)), choice.random);
  return apart.length > 0 ? apart : all;
}

/** A node of the white list, the lately seen more likely. */
export function chooseWhite(choice: PeerChoice): KnownPeer | undefined {
  const list = preferred(choice).slice(0, WHITE_CANDIDATES);
  const last = list.length - 1;
  if (last <= 0) return list[0];
  // The cube of an evenly chosen number. Source: node_server `get_random_index_with_fixed_probability`.
  const x = chooseIndex(16 * last + 1, choice.random);
  return list[Math.floor(x ** 3 / (last ** 2 * 16 ** 3))];
}

/** A node of the gray list, each as likely. */
export function chooseGray(choice: PeerChoice): KnownPeer | undefined {
  const list = preferred(choice);
  return list[chooseIndex(list.length, choice.random)];
}
