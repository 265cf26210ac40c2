/** Whether blocks are of the hard forks that the wallet knows of its network. */
import { type Block, hardForkAt, type NetworkName, networks } from "@anulo/protocol";
import { checked, type Daemon } from "../daemon.ts";
import { WalletRefusal } from "../refusal.ts";

type PlacedBlock = Pick<Block, "header"> & { readonly height: number };

/** How a node names the network of a chain that is nobody else's: its forks are as its owner likes. */
const PRIVATE_CHAIN = networks.regtest.rpcName;

function refusalOf(network: NetworkName, { header, height }: PlacedBlock): WalletRefusal {
  const { majorVersion } = header;
  const isNewer = majorVersion > networks[network].hardForks.at(-1)!.version;
  const advice = isNewer
    ? "Make sure your wallet is up to date"
    : "Make sure the node you are connected to is running the latest version";
  return new WalletRefusal(
    "UNKNOWN_ERROR",
    `Unexpected hard fork version v${majorVersion} at height ${height}. ${advice}`,
  );
}

/**
 * A check of the blocks of one scan, which rejects with WalletRefusal at a block of another hard fork than the network
 * has at its height: what it holds could be read wrongly. A fork that is not known yet is refused whatever the node
 * says; known ones at other heights are taken from a node that says its chain is a private one.
 * Source: wallet2.cpp `check_block_hard_fork_version`.
 */
export function createForkCheck(
  network: NetworkName,
  { address, client }: Pick<Daemon, "address" | "client">,
): (blocks: readonly PlacedBlock[]) => Promise<void> {
  const { hardForks } = networks[network];
  const newest = hardForks.at(-1)!.version;
  let isPrivate = false;
  return async (blocks) => {
    if (address.takesOtherForks === true) return;
    const unknown = blocks.find(({ header }) => header.majorVersion > newest);
    if (unknown !== undefined) throw refusalOf(network, unknown);
    if (isPrivate) return;
    const odd = blocks.find(
      ({ header, height }) => header.majorVersion !== hardForkAt({ hardForks }, height),
    );
    if (odd === undefined) return;
    const { nettype } = await checked(client.getInfo());
    if (nettype !== PRIVATE_CHAIN) throw refusalOf(network, odd);
    isPrivate = true;
  };
}
