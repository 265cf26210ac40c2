import type { PeerAddress } from "./address.ts";
import type { Bans } from "./bans.ts";
import type { Blame } from "./peer.ts";
import { RecentMap } from "./recent-map.ts";

/** Source: cryptonote_config.h `P2P_IP_FAILS_BEFORE_BLOCK`, `P2P_IP_BLOCKTIME`. */
const POINTS_BEFORE_BAN = 10;
const BAN_SECONDS = 24 * 60 * 60;
const MAX_REMEMBERED = 10_000;

/** What addresses did wrong so far. */
export interface Faults {
  /** Counts points, and bans when they are too many. Only IP addresses can be blamed: others hide who they are. */
  blame(address: PeerAddress, blame: Blame): void;
}

/** Starts with a clean record. Source: node_server `add_host_fail`. */
export function createFaults(bans: Bans): Faults {
  const points = new RecentMap<string, number>(MAX_REMEMBERED);
  return {
    blame({ kind, host }, { score = 0, banSeconds = 0 }) {
      if (kind !== "ipv4" && kind !== "ipv6") return;
      const sum = (points.get(host) ?? 0) + score;
      const isTooMuch = sum > POINTS_BEFORE_BAN;
      if (score > 0) points.set(host, isTooMuch ? POINTS_BEFORE_BAN / 2 : sum);
      const seconds = Math.max(banSeconds, isTooMuch ? BAN_SECONDS : 0);
      if (seconds > (bans.secondsLeft(host) ?? 0)) bans.set(host, seconds);
    },
  };
}
