import type { NetworkName } from "@anulo/protocol";
import { type PeerAddress, parsePeerAddress } from "./address.ts";

/** Nodes that know others, for the first start. */
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
const shared = ["176.9.0.187", "88.99.173.38", "51.79.173.165"];
const mainnetHosts = [
  ...shared,
  "212.83.175.67",
  "212.83.172.165",
  "88.198.163.90",
  "95.217.25.101",
  "136.244.105.131",
  "104.238.221.81",
  "66.85.74.134",
];
const hidden = [
  "xwvz3ekocr3dkyxfkmgm2hvbpzx2ysqmaxgter7znnqrhoicygkfswid.onion:18083",
  "4pixvbejrvihnkxmduo2agsnmc3rrulrqc7s3cbwwrep6h6hrzsibeqd.onion:18083",
  "zbjkbsxc5munw3qusl7j2hpcmikhqocdf4pqhnhtpzw5nt5jrmofptid.onion:18083",
  "qz43zul2x56jexzoqgkx2trzwcfnr6l3hbtfcfx54g4r3eahy3bssjyd.onion:18083",
  "s3l6ke4ed3df466khuebb4poienoingwof7oxtbo6j4n56sghe3a.b32.i2p:18080",
  "sel36x6fibfzujwvt4hf5gxolz6kd3jpvbjqg6o3ud2xtionyl2q.b32.i2p:18080",
];
const parsed = (texts: readonly string[]) => texts.map((text) => parsePeerAddress(text));

/** Source: node_server `m_seed_nodes_list`, `get_ip_seed_nodes`, `get_seed_nodes`. */
export const seedNodes: { readonly [N in NetworkName]: SeedNodes } = {
  mainnet: { names: onPort(18080, names), addresses: parsed([...onPort(18080, mainnetHosts), ...hidden]) },
  testnet: { names: [], addresses: parsed(onPort(28080, [...shared, "212.83.175.67", "212.83.172.165"])) },
  stagenet: { names: [], addresses: parsed(onPort(38080, [...shared, "162.210.173.150"])) },
  regtest: { names: [], addresses: [] },
};
