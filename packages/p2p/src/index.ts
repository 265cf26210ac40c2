export {
  BadAddress,
  formatPeerAddress,
  ipAddress,
  isLocal,
  isLoopback,
  isSameAddress,
  type PeerAddress,
  parsePeerAddress,
  splitHostPort,
  type Zone,
  zoneOf,
} from "./address.ts";
export { anonymityZones, parseEndpoint } from "./anonymity.ts";
export { type Ban, type Bans, createBans, PERMANENT_SECONDS } from "./bans.ts";
export { type Clock, systemClock } from "./clock.ts";
export * as peerCommands from "./commands.ts";
export { blocklistNames } from "./dns-blocklist.ts";
export { findAddresses } from "./find-addresses.ts";
export {
  type Command,
  command,
  encodeNotification,
  fragmentMessage,
  handle,
  type NotificationHandler,
  noiseMessage,
  notification,
} from "./messages.ts";
export { createPeerNetwork } from "./network.ts";
export type { Notification } from "./notification.ts";
export type {
  AnonymityZone,
  Endpoint,
  ListenEndpoint,
  Log,
  PeerNetworkOptions,
  PeerStorage,
} from "./options.ts";
export { type Blame, type CoreSyncData, type Peer, PeerFault, type Traffic } from "./peer.ts";
export type { KnownPeer } from "./peer-lists.ts";
export type { NetStats, PeerLists, PeerNetwork } from "./peer-network.ts";
export { ipv4Number, ipv4Text } from "./records.ts";
export { type SeedNodes, seedNodesOf } from "./seed-nodes.ts";
export { sharedLimits } from "./shared-limits.ts";
export { networkDefaults } from "./zone-options.ts";
