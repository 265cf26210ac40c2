import { BlockList, isIP } from "node:net";

/**
 * IPv4 ranges that are not part of the public Internet. Source: IANA IPv4 Special-Purpose Address Registry (RFC 6890),
 * RFC 5771.
 */
const reserved4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];
/**
 * Ranges inside 2000::/3, the only block of public IPv6, that are not public; 6to4 and Teredo contain other addresses.
 * Source: IANA IPv6 Special-Purpose Address Registry.
 */
const reserved6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

function listOf(kind: "ipv4" | "ipv6", subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of subnets) list.addSubnet(address, prefix, kind);
  return list;
}

const refused4 = listOf("ipv4", reserved4);
const refused6 = listOf("ipv6", reserved6);
const global6 = listOf("ipv6", [["2000::", 3]]);

/**
 * Whether an address belongs to the public Internet: not loopback, private, link-local, multicast, nor one of these
 * embedded in another address.
 */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !refused4.check(address, "ipv4");
  return version === 6 && global6.check(address, "ipv6") && !refused6.check(address, "ipv6");
}
