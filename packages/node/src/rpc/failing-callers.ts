import type { Bans } from "@anulo/p2p";
import { isPrivateAddress } from "@anulo/rpc";

/** Calls of a sort that may fail before the caller is shut out. Source: cryptonote_config.h. */
const FAILURES_BEFORE_BAN = 3;
/** Seconds. Source: cryptonote_config.h P2P_IP_BLOCKTIME. */
const BAN_SECONDS = 24 * 60 * 60;
/** Addresses remembered; beyond it the oldest are forgotten. */
const MAX_ADDRESSES = 10_000;

/**
 * Counts the calls of each address that ask for another chain, and shuts out who does not stop; but no private address,
 * behind which other callers may be.
 */
export interface FailingCallers {
  failed(remoteAddress: string): void;
}

/** Nobody is shut out. */
export const forgiving: FailingCallers = { failed: () => {} };

/** Source: core_rpc_server.cpp `add_host_fail`. */
export function createFailingCallers(bans: Bans): FailingCallers {
  const failures = new Map<string, number>();
  return {
    failed(remoteAddress) {
      if (isPrivateAddress(remoteAddress)) return;
      const count = (failures.get(remoteAddress) ?? 0) + 1;
      const isTooMany = count > FAILURES_BEFORE_BAN;
      failures.set(remoteAddress, isTooMany ? Math.floor(FAILURES_BEFORE_BAN / 2) : count);
      if (isTooMany) bans.set(remoteAddress, BAN_SECONDS);
      if (failures.size > MAX_ADDRESSES)
        for (const oldest of failures.keys()) return void failures.delete(oldest);
    },
  };
}
