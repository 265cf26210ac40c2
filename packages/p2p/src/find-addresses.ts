import { lookup } from "node:dns/promises";
import { BadAddress, ipAddress, type PeerAddress, parsePeerAddress, splitHostPort } from "./address.ts";

/** An address of text, or those of the name it is; `canLookUp` false refuses names. Throws BadAddress. */
export async function findAddresses(
  text: string,
  { defaultPort, canLookUp }: { defaultPort: number; canLookUp: boolean },
): Promise<PeerAddress[]> {
  const { host, port } = splitHostPort(text, defaultPort);
  const isName = !/^[\d.]*$/.test(host) && !host.includes(":") && !/\.(onion|i2p)$/.test(host);
  if (!isName) return [parsePeerAddress(text, defaultPort)];
  if (!canLookUp) throw new BadAddress(`${host} would have to be looked up outside the proxy`);
  try {
    const found = await lookup(host, { all: true });
    return found.flatMap(({ address }) => ipAddress(address, port) ?? []);
  } catch {
    throw new BadAddress(`${host} is not known`);
  }
}
