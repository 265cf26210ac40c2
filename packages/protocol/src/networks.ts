import { fromHex } from "./bytes.ts";

export type NetworkName = "mainnet" | "stagenet" | "testnet" | "regtest";

/** From `height` on, blocks follow the rules of `version`; `time` (seconds since 1970) is when the fork was decided. */
export type HardFork = { readonly version: number; readonly height: number; readonly time: number };

export type Network = {
  readonly name: NetworkName;
  /** The network's name in the original's RPC. */
  readonly rpcName: "mainnet" | "stagenet" | "testnet" | "fakechain";
  /** The number at the start of an address, by kind of address. */
  readonly addressPrefixes: {
    readonly standard: number;
    readonly integrated: number;
    readonly subaddress: number;
  };
  readonly ports: { readonly p2p: number; readonly rpc: number; readonly zmq: number };
  /** 16 bytes that identify the network between peers. */
  readonly peerNetworkId: Uint8Array;
  /** The only transaction of block 0, and the nonce of that block (version 1.0, time 0). */
  readonly genesis: { readonly transaction: Uint8Array; readonly nonce: number };
  /** In ascending order; version 1 also holds for block 0. */
  readonly hardForks: readonly HardFork[];
};

type ForkRow = readonly [version: number, height: number, time: number];
const forks = (rows: readonly ForkRow[]): HardFork[] =>
  rows.map(([version, height, time]) => ({ version, height, time }));

/** Source: hardforks/hardforks.cpp; heights are those of the first block of a version. */
const mainnetForks = forks([
  [1, 1, 1341378000],
  [2, 1009827, 1442763710],
  [3, 1141317, 1458558528],
  [4, 1220516, 1483574400],
  [5, 1288616, 1489520158],
  [6, 1400000, 1503046577],
  [7, 1546000, 1521303150],
  [8, 1685555, 1535889547],
  [9, 1686275, 1535889548],
  [10, 1788000, 1549792439],
  [11, 1788720, 1550225678],
  [12, 1978433, 1571419280],
  [13, 2210000, 1598180817],
  [14, 2210720, 1598180818],
  [15, 2688888, 1656629117],
  [16, 2689608, 1656629118],
]);

const testnetForks = forks([
  [1, 1, 1341378000],
  [2, 624634, 1445355000],
  [3, 800500, 1472415034],
  [4, 801219, 1472415035],
  [5, 802660, 1487967036],
  [6, 971400, 1501709789],
  [7, 1057027, 1512211236],
  [8, 1057058, 1533211200],
  [9, 1057778, 1533297600],
  [10, 1154318, 1550153694],
  [11, 1155038, 1550225678],
  [12, 1308737, 1569582000],
  [13, 1543939, 1599069376],
  [14, 1544659, 1599069377],
  [15, 1982800, 1652727000],
  [16, 1983520, 1652813400],
]);

const stagenetForks = forks([
  [1, 1, 1341378000],
  [2, 32000, 1521000000],
  [3, 33000, 1521120000],
  [4, 34000, 1521240000],
  [5, 35000, 1521360000],
  [6, 36000, 1521480000],
  [7, 37000, 1521600000],
  [8, 176456, 1537821770],
  [9, 177176, 1537821771],
  [10, 269000, 1550153694],
  [11, 269720, 1550225678],
  [12, 454721, 1571419280],
  [13, 675405, 1598180817],
  [14, 676125, 1598180818],
  [15, 1151000, 1656629117],
  [16, 1151720, 1656629118],
]);

/** Regtest starts with the newest rules in block 1. Source: cryptonote_core.cpp `regtest_hard_forks`. */
const regtestForks = forks([
  [1, 0, 1],
  [16, 1, 2],
]);

const networkId = (lastByte: string) => fromHex(`1230f171610441611731008216a1a1${lastByte}`);

const firstTransaction =
  "013c01ff0001ffffffffffff03029b2e4c0281c0b02e7c53291a94d1d0cbff8883f8024f5142ee494ffbbd0880712101" +
  "7767aafcde9be00dcfd098715ebcf7f410daebc582fda69d24a28e9d0bc890d1";
const firstStagenetTransaction =
  "013c01ff0001ffffffffffff0302df5d56da0c7d643ddd1ce61901c7bdc5fb1738bfe39fbe69c28a3a7032729c0f2101" +
  "168d0c4ca86fb55a4cf6a36d31431be1c53a3bd7411bb24e8832410289fa6f3b";

const mainnet: Network = {
  name: "mainnet",
  rpcName: "mainnet",
  addressPrefixes: { standard: 18, integrated: 19, subaddress: 42 },
  ports: { p2p: 18080, rpc: 18081, zmq: 18082 },
  peerNetworkId: networkId("10"),
  genesis: { transaction: fromHex(firstTransaction), nonce: 10000 },
  hardForks: mainnetForks,
};

/** Parameters of the four networks. Source: cryptonote_config.h, hardforks/hardforks.cpp. */
export const networks: { readonly [N in NetworkName]: Network } = {
  mainnet,
  testnet: {
    name: "testnet",
    rpcName: "testnet",
    addressPrefixes: { standard: 53, integrated: 54, subaddress: 63 },
    ports: { p2p: 28080, rpc: 28081, zmq: 28082 },
    peerNetworkId: networkId("11"),
    genesis: { transaction: fromHex(firstTransaction), nonce: 10001 },
    hardForks: testnetForks,
  },
  stagenet: {
    name: "stagenet",
    rpcName: "stagenet",
    addressPrefixes: { standard: 24, integrated: 25, subaddress: 36 },
    ports: { p2p: 38080, rpc: 38081, zmq: 38082 },
    peerNetworkId: networkId("12"),
    genesis: { transaction: fromHex(firstStagenetTransaction), nonce: 10002 },
    hardForks: stagenetForks,
  },
  regtest: { ...mainnet, name: "regtest", rpcName: "fakechain", hardForks: regtestForks },
};
