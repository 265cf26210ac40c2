/** The network an address belongs to. */
export type Zone = "public" | "tor" | "i2p";

/** Where a node is reached. `host`: dotted IPv4, IPv6 in its shortest form, `….onion` or `….b32.i2p`. */
export interface PeerAddress {
  readonly kind: "ipv4" | "ipv6" | "tor" | "i2p";
  readonly host: string;
  readonly port: number;
}
