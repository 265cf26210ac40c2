import { type CoreSyncData, PeerFault } from "@anulo/p2p";
import { hardForkAt, isPruningSeed, type Network } from "@anulo/protocol";

/** From this hard fork on peers send the version of their top block. Source: `process_payload_sync_data`. */
const FIRST_VERSION_ANNOUNCED = 6;

/** Throws PeerFault for a chain that cannot be of this network, or is pruned in an unknown way. */
export function checkSyncData(
  network: Network,
  { currentHeight, topVersion, pruningSeed }: CoreSyncData,
): void {
  if (currentHeight > 0) {
    const version = hardForkAt(network, currentHeight - 1);
    if (version >= FIRST_VERSION_ANNOUNCED && version !== topVersion) {
      throw new PeerFault(`top block of version ${topVersion} instead of ${version}`);
    }
  }
  if (!isPruningSeed(pruningSeed)) throw new PeerFault("an unknown pruning seed");
}
