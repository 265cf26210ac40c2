import type { PeerAddress } from "./address.ts";
import type { Bans } from "./bans.ts";
import type { Blame } from "./peer.ts";
import { RecentMap } from "./recent-map.ts";

/** Source: cryptonote_config.h `P2P_IP_FAILS_BEFORE_BLOCK`, `P2P_IP_BLOCKTIME`. */
const POINTS_BEFORE_BAN = 10;
const BAN_SECONDS = 24 * 60 * 60;
const MAX_REMEMBERED = 10_000;

/** Counts the faults of each address. */
export interface Faults {
  /**
   * Adds points, and bans the address when there are too many. Only IP addresses can be blamed: the others hide the
   * node behind them.
   */
  blame(address: PeerAddress, blame: Blame): void;
}

/** Creates an empty count of faults. Source: node_server `add_host_fail`. */
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
