import { epee } from "@anulo/protocol";
import { command } from "./messages.ts";
import { nodeDataRecord, peerEntries, syncDataField } from "./records.ts";

const emptyRecord = epee.record({});
const KiB = 1024;
/** Each of the 250 addresses a node may tell takes a few objects. */
const withAddresses = { requestBytes: 64 * KiB, responseBytes: 64 * KiB, memoryBytes: 512 * KiB, rows: 0 };
const short = { requestBytes: 4 * KiB, responseBytes: 4 * KiB, memoryBytes: 16 * KiB, rows: 0 };

/** The first thing said on a connection, by who opened it. Source: p2p_protocol_defs.h; limits: connection_context.cpp. */
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

/** Each side's news, once a minute. */
export const timedSync = command({
  id: 1002,
  name: "timed sync",
  request: epee.record({ payload_data: syncDataField }),
  response: epee.record({ payload_data: syncDataField, local_peerlist_new: peerEntries }),
  cost: withAddresses,
});

/** Asks who listens at an address; no handshake before it. */
export const ping = command({
  id: 1003,
  name: "ping",
  request: emptyRecord,
  response: epee.record({ status: epee.text, peer_id: epee.u64 }),
  cost: short,
});

/** Asks what a node understands, where its handshake did not tell. */
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
