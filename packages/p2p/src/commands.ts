import { epee } from "@anulo/protocol";
import { command } from "./messages.ts";
import { nodeDataRecord, peerEntries, syncDataField } from "./records.ts";

const emptyRecord = epee.record({});
const KiB = 1024;
/**
 * Sizes of a handshake and of a timed sync: a node may send 250 addresses, each of which takes a few objects. More bytes
 * are refused from the head of the frame, before they are read (`levin/frame-reader.ts`).
 */
const withAddresses = { requestBytes: 64 * KiB, responseBytes: 64 * KiB, memoryBytes: 512 * KiB, rows: 0 };
const short = { requestBytes: 4 * KiB, responseBytes: 4 * KiB, memoryBytes: 16 * KiB, rows: 0 };

/**
 * The first request on a connection, sent by the node that opened it. Source: p2p_protocol_defs.h; limits:
 * connection_context.cpp.
 */
export const handshake = command({
  id: 1001,
  name: "handshake",
  request: epee.record({ node_data: nodeDataRecord, payload_data: syncDataField }),
  response: epee.record({
    node_data: nodeDataRecord,
    payload_data: syncDataField,
    local_peerlist_new: peerEntries,
  }),
  cost: withAddresses,
});

/** Exchanges both nodes' chain data and peer lists, once a minute. */
export const timedSync = command({
  id: 1002,
  name: "timed sync",
  request: epee.record({ payload_data: syncDataField }),
  response: epee.record({ payload_data: syncDataField, local_peerlist_new: peerEntries }),
  cost: withAddresses,
});

/** Asks for the id of the node that listens at an address; sent without a handshake. */
export const ping = command({
  id: 1003,
  name: "ping",
  request: emptyRecord,
  response: epee.record({ status: epee.text, peer_id: epee.u64 }),
  cost: short,
});

/** Asks which features a node supports, if its handshake did not contain them. */
export const supportFlags = command({
  id: 1007,
  name: "support flags",
  request: emptyRecord,
  response: epee.record({ support_flags: epee.u32 }),
  cost: short,
});

export const PING_OK = "OK";
/** Fluffy blocks. Source: cryptonote_config.h `P2P_SUPPORT_FLAGS`. */
export const OUR_SUPPORT_FLAGS = 1;
