import { isSameAddress, type PeerAddress, parsePeerAddress, splitHostPort } from "./address.ts";

/**
 * Seed addresses: those of the options, and those of names, which are looked up once, when they are first requested.
 */
export function createSeeds(parts: {
  addresses: readonly PeerAddress[];
  names: readonly string[];
  lookUp: (name: string) => Promise<string[]>;
}): () => Promise<readonly PeerAddress[]> {
  const { addresses, names, lookUp } = parts;
  const find = async () => {
    const lists = await Promise.all(
      names.map(async (name) => {
        const { host, port } = splitHostPort(name, 0);
        return (await lookUp(host)).map((ip) => parsePeerAddress(ip, port));
      }),
    );
    const all = [...addresses, ...lists.flat()];
    return all.filter((address, i) => all.findIndex((other) => isSameAddress(address, other)) === i);
  };
  let seeds: Promise<readonly PeerAddress[]> | undefined;
  return () => {
    seeds ??= find();
    return seeds;
  };
}
