import { RuleViolation } from "@anulo/consensus";
import { PeerFault } from "@anulo/p2p";
import { BadBytes, toHex } from "@anulo/protocol";
import { acceptBlock, type BlockOutcome } from "../chain/chain.ts";
import { type IncomingBlock, readBlockWithTransactions } from "../chain/incoming-block.ts";
import type { ChainParts } from "../chain/parts.ts";
import { isPublic } from "../pool/relay-phase.ts";
import type { ChainSync } from "./chain-sync.ts";
import type { PeerLink } from "./link.ts";
import { messages, type PayloadOf } from "./messages.ts";
import { relayBlock } from "./relay-blocks.ts";

/** Takes the new blocks that peers tell of, and tells others of those that were added. */
export interface NewBlocks {
  /** A block with all its transactions. */
  onWhole(link: PeerLink, message: PayloadOf<"newBlock">): Promise<void>;
  /** A block with none of its transactions, or with those that were asked for. */
  onFluffy(link: PeerLink, message: PayloadOf<"newFluffyBlock">): Promise<void>;
  /** Whether a block (id in hexadecimal) has come from a peer just now. */
  isComing(key: string): boolean;
}

export interface NewBlocksOptions {
  readonly parts: ChainParts;
  readonly sync: ChainSync;
  links(): readonly PeerLink[];
}

function readOrBlame({ b: { block, txs } }: PayloadOf<"newBlock">): Promise<IncomingBlock> {
  const blobs = txs.map(({ blob }) => blob);
  return readBlockWithTransactions(block, blobs).catch((error) => {
    throw error instanceof BadBytes ? new PeerFault(`no block: ${error.message}`) : error;
  });
}

/** Places of the transactions that neither came along nor may be known to us. */
function missingOf({ pool, store }: ChainParts, { block, transactions }: IncomingBlock): number[] {
  return block.transactionHashes.flatMap((id, index) => {
    const key = toHex(id);
    const waiting = pool.get(key);
    // What only we and a peer or two know is asked for, so that nobody learns that we have it.
    const isHere = transactions?.has(key) || (waiting !== undefined && isPublic(waiting.row));
    return isHere || store.read.transaction(id) !== undefined ? [] : [index];
  });
}

/** Source: cryptonote_protocol_handler.inl `handle_notify_new_fluffy_block`, `handle_notify_new_block`. */
export function createNewBlocks({ parts, sync, links }: NewBlocksOptions): NewBlocks {
  const coming = new Map<string, Promise<BlockOutcome>>();
  const isReady = (link: PeerLink) => link.state === "normal" && sync.isSynchronized;
  /**
   * Two peers may tell of the same block: it is looked at once. Where that fails, the fault may be in the
   * transactions the other peer sent with it: each answers for its own.
   */
  const acceptOnce = (incoming: IncomingBlock): Promise<BlockOutcome> => {
    const started = coming.get(incoming.key);
    if (started !== undefined) {
      return started.then(
        () => "known" as const,
        () => acceptOnce(incoming),
      );
    }
    const outcome = acceptBlock(parts, incoming).finally(() => coming.delete(incoming.key));
    coming.set(incoming.key, outcome);
    return outcome;
  };
  const accept = async (link: PeerLink, incoming: IncomingBlock): Promise<void> => {
    try {
      const outcome = await acceptOnce(incoming);
      if (outcome !== "added" && outcome !== "reorganised") return;
      const height = parts.store.read.heightOf(incoming.id);
      const others = links().filter((other) => other !== link && other.peer.zone === "public");
      if (height !== undefined) relayBlock(parts.store.read, height, others);
    } catch (error) {
      if (!(error instanceof RuleViolation)) throw error;
      const { code } = error.violation;
      if (code !== "UNKNOWN_PARENT") {
        throw new PeerFault(error.message, { score: code === "PROOF_OF_WORK" ? 10 : 1 });
      }
      if (link.peer.isOpen && link.state === "normal") sync.follow(link);
    }
  };
  return {
    isComing: (key) => coming.has(key),
    async onWhole(link, message) {
      if (isReady(link)) await accept(link, await readOrBlame(message));
    },
    async onFluffy(link, message) {
      if (!isReady(link)) return;
      const read = await readOrBlame(message);
      const asked = link.missing?.block === read.key ? link.missing : undefined;
      const transactions = new Map([...(asked?.transactions ?? []), ...(read.transactions ?? [])]);
      const incoming = { ...read, transactions };
      const missing = missingOf(parts, incoming);
      link.missing = undefined;
      if (missing.length === 0) return accept(link, incoming);
      if (asked !== undefined) throw new PeerFault("not the transactions that were asked for");
      link.missing = { block: incoming.key, transactions };
      const { current_blockchain_height } = message;
      const ask = {
        block_hash: incoming.id,
        current_blockchain_height,
        missing_tx_indices: missing,
      };
      link.peer.notify(messages.requestMissing, ask);
    },
  };
}
