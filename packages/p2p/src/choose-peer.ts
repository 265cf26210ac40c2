import { stripeOfSeed } from "@anulo/protocol";
import type { PeerAddress } from "./address.ts";
import { neighbourhoodOf } from "./address.ts";
import type { KnownPeer } from "./peer-lists.ts";
import { chooseIndex, type RandomSource } from "./random.ts";

/** What decides whom to call next. */
export interface Choice {
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

/** One node a host, those of the wanted stripe first, those of another left out. */
function candidates(choice: Choice, neighbourhoods: ReadonlySet<string>): KnownPeer[] {
  const hosts = new Set<string>();
  const first: KnownPeer[] = [];
  const others: KnownPeer[] = [];
  for (const peer of choice.known) {
    const { address, pruningSeed } = peer;
    if (hosts.has(address.host) || neighbourhoods.has(neighbourhoodOf(address))) continue;
    hosts.add(address.host);
    if (!choice.isUsable(peer)) continue;
    if (choice.stripe === 0 || pruningSeed === 0) others.push(peer);
    else if (choice.stripe === stripeOfSeed(pruningSeed)) first.push(peer);
  }
  return [...first, ...others];
}

/** Those outside the neighbourhoods we are connected to; where there is none, any. */
function preferred(choice: Choice): KnownPeer[] {
  const apart = candidates(choice, new Set(choice.connected.map(neighbourhoodOf)));
  return apart.length > 0 ? apart : candidates(choice, new Set());
}

/** A node of the white list, the lately seen more likely. */
export function chooseWhite(choice: Choice): KnownPeer | undefined {
  const list = preferred(choice).slice(0, WHITE_CANDIDATES);
  const last = list.length - 1;
  if (last <= 0) return list[0];
  // The cube of an evenly chosen number. Source: node_server `get_random_index_with_fixed_probability`.
  const x = chooseIndex(16 * last + 1, choice.random);
  return list[Math.floor(x ** 3 / (last ** 2 * 16 ** 3))];
}

/** A node of the gray list, each as likely. */
export function chooseGray(choice: Choice): KnownPeer | undefined {
  const list = preferred(choice);
  return list[chooseIndex(list.length, choice.random)];
}
