import { writeRecord } from "@anulo/protocol";
import { PING_OK, ping } from "./commands.ts";
import { Link, RequestFailed, type SharedLines } from "./connection/link.ts";
import type { Transport } from "./connection/transport.ts";
import { readResponse } from "./messages.ts";
import { PeerFault } from "./peer.ts";

/** Source: cryptonote_config.h `P2P_DEFAULT_PING_CONNECTION_TIMEOUT`. */
export const PING_TIMEOUT_MS = 2000;

/**
 * Whether the node at the other end answers a ping with this id. Closes the connection. Source: node_server `try_ping`.
 */
export async function canReachBack(
  peerId: bigint,
  transport: Transport,
  lines: SharedLines,
): Promise<boolean> {
  const link: Link = new Link(transport, lines, {
    maxBytes: () => 0,
    hasResponse: () => false,
    onFrame: () => {
      throw new PeerFault("speaks when it should answer");
    },
    onError: () => link.close("is not what it says"),
    onClosed: () => {},
  });
  const cancel = lines.clock.after(PING_TIMEOUT_MS, () => link.close("no answer in time"));
  try {
    link.start();
    const limits = { maxBytes: ping.cost.responseBytes, timeoutMs: PING_TIMEOUT_MS };
    const bytes = await link.request(ping.id, writeRecord(ping.request, {}), limits);
    const { status, peer_id } = readResponse(ping, bytes);
    return status === PING_OK && peer_id === peerId;
  } catch (error) {
    if (error instanceof RequestFailed || error instanceof PeerFault) return false;
    throw error;
  } finally {
    cancel();
    link.close("done");
  }
}
