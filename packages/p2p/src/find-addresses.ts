import { lookup } from "node:dns/promises";
import { BadAddress, ipAddress, type PeerAddress, parsePeerAddress, splitHostPort } from "./address.ts";

/** Parses an address, or looks up a name; refuses names if `canLookUp` is false. Throws BadAddress. */
export async function findAddresses(
  text: string,
  { defaultPort, canLookUp }: { defaultPort: number; canLookUp: boolean },
): Promise<PeerAddress[]> {
  const { host, port } = splitHostPort(text, defaultPort);
  const isName = !/^[\d.]*$/.test(host) && !host.includes(":") && !/\.(onion|i2p)$/.test(host);
  if (!isName) return [parsePeerAddress(text, defaultPort)];
  if (!canLookUp) throw new BadAddress(`${host} would have to be looked up outside the proxy`);
  try {
    const addresses = await lookup(host, { all: true });
    return addresses.flatMap(({ address }) => ipAddress(address, port) ?? []);
  } catch {
    throw new BadAddress(`${host} is not known`);
  }
}
