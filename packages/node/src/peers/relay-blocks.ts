import { NULL_HASH } from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";
import { transactionBlob } from "../chain/stored-transaction.ts";
import type { BlockEntry } from "./block-entry.ts";
import type { PeerLink } from "./link.ts";
import { messages } from "./messages.ts";

/** Support flag of peers that accept blocks without the transactions they have. Source: cryptonote_config.h. */
const FLUFFY_BLOCKS = 1;

/** A block of the main chain as it is sent to peers that do not have its transactions. */
function withTransactions(read: ChainReader, height: number): BlockEntry {
  const { firstTransactionId, transactionCount } = read.blockInfo(height)!;
  const ids = Array.from({ length: transactionCount - 1 }, (_, i) => firstTransactionId + 1 + i);
  const txs = ids.flatMap((id) => {
    const blob = transactionBlob(read, read.transactionById(id)!);
    return blob === undefined ? [] : [{ blob, prunableHash: NULL_HASH }];
  });
  return { pruned: false, block: read.blockBlob(height)!, weight: 0, txs };
}

/** Sends a block of the main chain to these peers, without its transactions where the peer supports that. */
export function relayBlock(read: ChainReader, height: number, links: readonly PeerLink[]): void {
  const isFluffy = ({ peer }: PeerLink) => (peer.supportFlags & FLUFFY_BLOCKS) !== 0;
  const current_blockchain_height = read.height();
  const b: BlockEntry = { pruned: false, block: read.blockBlob(height)!, weight: 0, txs: [] };
  for (const { peer } of links.filter(isFluffy)) {
    peer.notify(messages.newFluffyBlock, { b, current_blockchain_height });
  }
  const others = links.filter((link) => !isFluffy(link));
  if (others.length === 0) return;
  const whole = withTransactions(read, height);
  for (const { peer } of others) peer.notify(messages.newBlock, { b: whole, current_blockchain_height });
}
