export type { PeerAddress, Zone } from "./address.ts";
export type { Ban, Bans } from "./bans.ts";
export { type Clock, systemClock } from "./clock.ts";
export {
  type Command,
  command,
  handle,
  type Notification,
  type NotificationHandler,
  notification,
} from "./messages.ts";
export type { CreatePeerNetwork, KnownPeer, NetStats, PeerLists, PeerNetwork } from "./network.ts";
export type { AnonymityZone, Endpoint, Log, PeerNetworkOptions, PeerStorage } from "./options.ts";
export { type Blame, type CoreSyncData, type Peer, PeerFault, type Traffic } from "./peer.ts";
