/** Checks that blocks have the hard fork versions that the wallet knows for its network. */
import { type Block, hardForkAt, type NetworkName, networks } from "@anulo/protocol";
import { checked, type Daemon } from "../daemon.ts";
import { WalletRefusal } from "../refusal.ts";

type PlacedBlock = Pick<Block, "header"> & { readonly height: number };

/** The network name that a node reports for a private chain: its owner chooses its hard forks. */
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
 * Creates a check of the blocks of one scan. It rejects with WalletRefusal at a block of another hard fork than the
 * network has at its height, since the wallet could parse it wrongly. Unknown hard forks are always refused; known ones
 * at other heights are accepted from a node that reports a private chain.
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
