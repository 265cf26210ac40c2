import { BadBytes, epee, type Field, type FieldValue, PortableNames } from "@anulo/protocol";
import {
  formatPeerAddress,
  ipAddress,
  isI2pHost,
  isTorHost,
  type PeerAddress,
  parsePeerAddress,
} from "./address.ts";
import { formatIpv4, formatIpv6, parseIpv4, parseIpv6 } from "./ip.ts";
import type { CoreSyncData } from "./peer.ts";

/** An IPv4 address as a number, with the first byte lowest, as the peer protocol and RPC encode it. */
export function ipv4Number(host: string): number | undefined {
  const bytes = parseIpv4(host);
  return bytes === undefined ? undefined : new DataView(bytes.buffer).getUint32(0, true);
}

/** Formats a number, with the first byte lowest, as IPv4 text. */
export function ipv4Text(number: number): string {
  return formatIpv4(Uint8Array.of(number, number >> 8, number >> 16, number >> 24));
}

type AddressVariant<T> = {
  readonly tag: number;
  readonly fields: Field<T>;
  of(value: T): PeerAddress | undefined;
};
const ipv4Fields = epee.record({ m_ip: epee.u32, m_port: epee.u16 });
const ipv6Fields = epee.record({ addr: epee.fixedBytes(16), m_port: epee.u16 });
const hostFields = epee.record({ host: epee.text, port: epee.u16 });

/** The kinds of addresses. Source: net_utils_base.h `network_address`, enums.h `address_type`. */
const addressKinds = {
  ipv4: {
    tag: 1,
    fields: ipv4Fields,
    of: ({ m_ip, m_port }) => ipAddress(ipv4Text(m_ip), m_port),
  } satisfies AddressVariant<FieldValue<typeof ipv4Fields>>,
  ipv6: {
    tag: 2,
    fields: ipv6Fields,
    of: ({ addr, m_port }) => ipAddress(formatIpv6(addr), m_port),
  } satisfies AddressVariant<FieldValue<typeof ipv6Fields>>,
  i2p: {
    tag: 3,
    fields: hostFields,
    of: ({ host, port }) => (isI2pHost(host) ? { kind: "i2p", host: host.toLowerCase(), port } : undefined),
  } satisfies AddressVariant<FieldValue<typeof hostFields>>,
  tor: {
    tag: 4,
    fields: hostFields,
    of: ({ host, port }) => (isTorHost(host) ? { kind: "tor", host: host.toLowerCase(), port } : undefined),
  } satisfies AddressVariant<FieldValue<typeof hostFields>>,
};

function addressEntry(address: PeerAddress) {
  const { kind, host, port } = address;
  if (kind === "ipv4") return ipv4Fields.toPortable({ m_ip: ipv4Number(host)!, m_port: port });
  if (kind === "ipv6") return ipv6Fields.toPortable({ addr: parseIpv6(host)!, m_port: port });
  return hostFields.toPortable({ host, port });
}

const addressNames = new PortableNames(["addr", "type"]);

/** A node's address; undefined for an unknown kind of address, or for a hidden host. */
export const addressField: Field<PeerAddress | undefined> = {
  toPortable(address) {
    if (address === undefined) throw new TypeError("an address to write");
    const type = { type: "uint8", value: BigInt(addressKinds[address.kind].tag) } as const;
    return {
      type: "object",
      value: new Map([
        ["type", type],
        ["addr", addressEntry(address)!],
      ]),
    };
  },
  fromPortable(object) {
    const values = object?.fields(addressNames);
    if (values === undefined) throw new BadBytes("no address");
    const [addr, type] = values;
    const tag = epee.u8.fromPortable(type);
    const kind = Object.values(addressKinds).find((candidate) => candidate.tag === tag);
    if (kind === undefined) return undefined;
    return (kind as AddressVariant<unknown>).of(kind.fields.fromPortable(addr));
  },
  toJson: (address) => (address === undefined ? undefined : formatPeerAddress(address)),
  fromJson: (json) => (typeof json === "string" ? parsePeerAddress(json) : undefined),
};

/** An announced node. Source: p2p_protocol_defs.h `peerlist_entry_base`. */
export const peerEntryRecord = epee.record({
  adr: addressField,
  id: epee.u64,
  last_seen: epee.defaultsTo(epee.i64, 0n),
  pruning_seed: epee.defaultsTo(epee.u32, 0),
  rpc_port: epee.defaultsTo(epee.u16, 0),
  rpc_credits_per_hash: epee.defaultsTo(epee.u32, 0),
});
export type PeerEntry = FieldValue<typeof peerEntryRecord>;

/** Maximum number of nodes in one message. Source: cryptonote_config.h `P2P_MAX_PEERS_IN_HANDSHAKE`. */
export const MAX_PEERS_SENT = 250;
export const peerEntries = epee.list(peerEntryRecord, MAX_PEERS_SENT);

/** A node's description of itself. Source: p2p_protocol_defs.h `basic_node_data`. */
export const nodeDataRecord = epee.record({
  network_id: epee.fixedBytes(16),
  peer_id: epee.u64,
  my_port: epee.u32,
  rpc_port: epee.defaultsTo(epee.u16, 0),
  rpc_credits_per_hash: epee.defaultsTo(epee.u32, 0),
  support_flags: epee.defaultsTo(epee.u32, 0),
});
export type NodeData = FieldValue<typeof nodeDataRecord>;

const syncDataRecord = epee.record({
  current_height: epee.count64,
  cumulative_difficulty: epee.u64,
  cumulative_difficulty_top64: epee.u64,
  top_id: epee.fixedBytes(32),
  top_version: epee.defaultsTo(epee.u8, 0),
  pruning_seed: epee.defaultsTo(epee.u32, 0),
});

function syncDataOf(wire: FieldValue<typeof syncDataRecord>): CoreSyncData {
  return {
    currentHeight: wire.current_height,
    topId: wire.top_id,
    topVersion: wire.top_version,
    cumulativeDifficulty: (wire.cumulative_difficulty_top64 << 64n) | wire.cumulative_difficulty,
    pruningSeed: wire.pruning_seed,
  };
}

function syncDataToWire(data: CoreSyncData): FieldValue<typeof syncDataRecord> {
  return {
    current_height: data.currentHeight,
    cumulative_difficulty: BigInt.asUintN(64, data.cumulativeDifficulty),
    cumulative_difficulty_top64: data.cumulativeDifficulty >> 64n,
    top_id: data.topId,
    top_version: data.topVersion,
    pruning_seed: data.pruningSeed,
  };
}

/** A node's chain. Source: cryptonote_protocol_defs.h `CORE_SYNC_DATA`. */
export const syncDataField: Field<CoreSyncData> = {
  toPortable: (data) => syncDataRecord.toPortable(syncDataToWire(data)),
  fromPortable(entry) {
    if (entry === undefined) throw new BadBytes("no sync data");
    return syncDataOf(syncDataRecord.fromPortable(entry));
  },
  toJson: (data) => syncDataRecord.toJson(syncDataToWire(data)),
  fromJson: (json) => syncDataOf(syncDataRecord.fromJson(json)),
};
