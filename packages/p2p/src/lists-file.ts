import {
  BadBytes,
  epee,
  type FieldValue,
  type PortableLimits,
  readRecord,
  writeRecord,
} from "@anulo/protocol";
import type { PeerAddress, Zone } from "./address.ts";
import { entryOf, type KnownPeer, listLimits } from "./peer-lists.ts";
import { type PeerEntry, peerEntryRecord } from "./records.ts";

/** The lists of a zone that are stored between runs. */
export interface StoredLists {
  readonly white: readonly KnownPeer[];
  readonly gray: readonly KnownPeer[];
  readonly anchors: readonly PeerAddress[];
}

const VERSION = 1;
const MAX_ZONES = 3;
const MAX_ANCHORS = 100;
const zoneRecord = epee.record({
  zone: epee.text,
  white: epee.list(peerEntryRecord, listLimits.white),
  gray: epee.list(peerEntryRecord, listLimits.gray),
  anchors: epee.list(peerEntryRecord, MAX_ANCHORS),
});
const listsRecord = epee.record({ version: epee.u32, zones: epee.list(zoneRecord, MAX_ZONES) });
const limits: PortableLimits = {
  objects: 60_000,
  fields: 300_000,
  strings: 60_000,
  booleans: 0,
  memoryBytes: 64 * 1024 * 1024,
};

function peerEntry(peer: KnownPeer): PeerEntry {
  return { ...entryOf(peer), last_seen: BigInt(peer.lastSeen) };
}

function knownPeers({ adr, id, last_seen, pruning_seed, rpc_port }: PeerEntry): KnownPeer[] {
  if (adr === undefined) return [];
  return [
    { address: adr, peerId: id, lastSeen: Number(last_seen), pruningSeed: pruning_seed, rpcPort: rpc_port },
  ];
}

function anchorEntry(address: PeerAddress): PeerEntry {
  return entryOf({ address, peerId: 0n, lastSeen: 0, pruningSeed: 0, rpcPort: 0 });
}

/** Serializes the lists as portable storage. */
export function writeLists(lists: ReadonlyMap<Zone, StoredLists>): Uint8Array {
  const zones: FieldValue<typeof zoneRecord>[] = [...lists].map(([zone, { white, gray, anchors }]) => ({
    zone,
    white: white.map(peerEntry),
    gray: gray.map(peerEntry),
    anchors: anchors.slice(0, MAX_ANCHORS).map(anchorEntry),
  }));
  return writeRecord(listsRecord, { version: VERSION, zones });
}

/** Parses stored lists. Throws BadBytes for damaged lists or another version. */
export function readLists(bytes: Uint8Array): Map<Zone, StoredLists> {
  const { version, zones } = readRecord(listsRecord, bytes, limits);
  if (version !== VERSION) throw new BadBytes(`peer lists of version ${version}`);
  return new Map(
    zones.map(({ zone, white, gray, anchors }) => [
      zone as Zone,
      {
        white: white.flatMap(knownPeers),
        gray: gray.flatMap(knownPeers),
        anchors: anchors.flatMap(({ adr }) => adr ?? []),
      },
    ]),
  );
}
