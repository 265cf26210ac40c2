import type { NetworkName } from "@anulo/protocol";
import { type PeerAddress, parsePeerAddress } from "./address.ts";

/** Nodes that send addresses of others, for the first start. */
export interface SeedNodes {
  /** `name:port`, to be looked up. */
  readonly names: readonly string[];
  readonly addresses: readonly PeerAddress[];
}

const onPort = (port: number, hosts: readonly string[]) => hosts.map((host) => `${host}:${port}`);
const names = [
  "seeds.moneroseeds.se",
  "seeds.moneroseeds.ae.org",
  "seeds.moneroseeds.ch",
  "seeds.moneroseeds.li",
];
const hosts = ["176.9.0.187", "192.99.8.110", "37.187.74.171", "88.99.195.15", "5.104.84.64"];
const mainnetHosts = [...hosts, "88.198.163.90"];
const onionHosts = [
  "zbjkbsxc5munw3qusl7j2hpcmikhqocdf4pqhnhtpzw5nt5jrmofptid.onion",
  "plowsof3t5hogddwabaeiyrno25efmzfxyro2vligremt7sxpsclfaid.onion",
  "plowsoffjexmxalw73tkjmf422gq6575fc7vicuu4javzn2ynnte6tyd.onion",
  "plowsofe6cleftfmk2raiw5h2x66atrik3nja4bfd3zrfa2hdlgworad.onion",
  "aclc4e2jhhtr44guufbnwk5bzwhaecinax4yip4wr4tjn27sjsfg6zqd.onion",
  "lykcas4tus7mkm4bhsgqe4drtd4awi7gja24goscc47xfgzj54yofyqd.onion",
];
const i2pHosts = [
  "uqj3aphckqtjsitz7kxx5flqpwjlq5ppr3chazfued7xucv3nheq.b32.i2p",
  "vdmnehdjkpkg57nthgnjfuaqgku673r5bpbqg56ix6fyqoywgqrq.b32.i2p",
  "ugnlcdciyhghh2zert7c3kl4biwkirc43ke33jiy5slnd3mv2trq.b32.i2p",
];
/** I2P has no ports; peers send this number. Source: net/i2p_address.h. */
const I2P_PORT = 1;
const hidden = [...onPort(18083, onionHosts), ...onPort(I2P_PORT, i2pHosts)];
const texts: {
  readonly [N in NetworkName]: { readonly names?: readonly string[]; readonly addresses: readonly string[] };
} = {
  mainnet: { names: onPort(18080, names), addresses: [...onPort(18080, mainnetHosts), ...hidden] },
  testnet: { addresses: onPort(28080, hosts) },
  stagenet: { addresses: onPort(38080, hosts) },
  regtest: { addresses: [] },
};

/**
 * The nodes with which the first start of a network begins. Checking the addresses of hidden services takes
 * milliseconds, so only networks that have some do it. Source: node_server `m_seed_nodes_list`, `get_ip_seed_nodes`,
 * `get_seed_nodes` (0.18.5).
 */
export function seedNodesOf(network: NetworkName): SeedNodes {
  const { names = [], addresses } = texts[network];
  return { names, addresses: addresses.map((text) => parsePeerAddress(text)) };
}
