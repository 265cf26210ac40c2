import { chainContext, checkBlockSize, RuleViolation } from "@anulo/consensus";
import { TimeSlice } from "@anulo/limits";
import { PeerFault } from "@anulo/p2p";
import { BadBytes, toHex } from "@anulo/protocol";
import { acceptBlock, type BlockOutcome, checkHeaderAndWork, type HeaderStanding } from "../chain/chain.ts";
import { type IncomingBlock, readIncomingBlock, withTransactions } from "../chain/incoming-block.ts";
import type { ChainParts } from "../chain/parts.ts";
import { isPublic } from "../pool/entry.ts";
import type { ChainSync } from "./chain-sync.ts";
import { chargedTo, type PeerLink } from "./link.ts";
import { messages, type PayloadOf } from "./messages.ts";
import { relayBlock } from "./relay-blocks.ts";

/** Handles the new blocks that peers send, and relays those that were added. */
export interface NewBlocks {
  /** A block with all its transactions. */
  onWhole(link: PeerLink, message: PayloadOf<"newBlock">): Promise<void>;
  /** A block with none of its transactions, or with those that were requested. */
  onFluffy(link: PeerLink, message: PayloadOf<"newFluffyBlock">): Promise<void>;
  /** Whether a block (id in hexadecimal) that a peer sent is being handled. */
  isExpected(key: string): boolean;
}

export interface NewBlocksOptions {
  readonly parts: ChainParts;
  readonly sync: ChainSync;
  links(): readonly PeerLink[];
}

/** Reads what a peer sent; invalid bytes are the peer's fault. */
async function readOrBlame<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof BadBytes ? new PeerFault(`no block: ${error.message}`) : error;
  }
}

/** Indices of the transactions that were not supplied and that we do not have, or may not show that we have. */
function missingOf({ pool, store }: ChainParts, { block, transactions }: IncomingBlock): number[] {
  return block.transactionHashes.flatMap((id, index) => {
    const key = toHex(id);
    const waiting = pool.get(key);
    // A transaction that only we and a few peers have is requested too, so that peers do not learn that we have it.
    const isHere = transactions?.has(key) || (waiting !== undefined && isPublic(waiting.row));
    return isHere || store.read.transaction(id) !== undefined ? [] : [index];
  });
}

/** Whether a block was refused because a transaction of it is not here. */
function isTransactionMissing(error: unknown): boolean {
  return error instanceof RuleViolation && error.violation.code === "TRANSACTION_MISSING";
}

/** Runs one task at a time for each key: callers with the same key meanwhile get the same result. */
function createShared<T>(): (key: string, run: () => Promise<T>) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  return (key, run) => {
    const started = running.get(key) ?? run().finally(() => running.delete(key));
    running.set(key, started);
    return started;
  };
}

/** Source: cryptonote_protocol_handler.inl `handle_notify_new_fluffy_block`, `handle_notify_new_block`. */
export function createNewBlocks({ parts, sync, links }: NewBlocksOptions): NewBlocks {
  const coming = new Map<string, Promise<BlockOutcome>>();
  const shareHeader = createShared<HeaderStanding>();
  const isReady = (link: PeerLink) => link.state === "normal" && sync.isSynchronized;
  /** A block that arrives while its peer's chain is being fetched is requested after that. */
  const postpone = (link: PeerLink) => {
    if (link.state !== "normal") link.hasNewBlock = true;
  };
  /**
   * Two peers may send the same block: it is judged once. If that fails, the fault may be in the transactions that the
   * other peer sent with it, so the block of each peer is judged.
   */
  const acceptOnce = (charged: ChainParts, incoming: IncomingBlock): Promise<BlockOutcome> => {
    const started = coming.get(incoming.key);
    if (started !== undefined) {
      return started.then(
        () => "known" as const,
        () => acceptOnce(charged, incoming),
      );
    }
    const outcome = acceptBlock(charged, incoming).finally(() => coming.delete(incoming.key));
    coming.set(incoming.key, outcome);
    return outcome;
  };
  const accept = async (link: PeerLink, charged: ChainParts, incoming: IncomingBlock): Promise<void> => {
    const outcome = await acceptOnce(charged, incoming);
    if (outcome !== "added" && outcome !== "reorganised") return;
    const height = parts.store.read.heightOf(incoming.id);
    const others = links().filter((other) => other !== link && other.peer.zone === "public");
    if (height !== undefined) relayBlock(parts.store.read, height, others);
  };
  /**
   * Accepts a block of which nothing is missing; returns false if a transaction has left the pool while the block waited
   * for its turn, which is not its sender's fault.
   */
  const isAccepted = async (
    link: PeerLink,
    charged: ChainParts,
    incoming: IncomingBlock,
  ): Promise<boolean> => {
    try {
      await accept(link, charged, incoming);
      return true;
    } catch (error) {
      if (isTransactionMissing(error) && missingOf(parts, incoming).length > 0) return false;
      throw error;
    }
  };
  /** Blames the peer for a broken rule; a block with an unknown parent makes us request the blocks between. */
  const blaming = async (link: PeerLink, take: (charged: ChainParts) => Promise<void>): Promise<void> => {
    try {
      await take(chargedTo(link, parts));
    } catch (error) {
      if (!(error instanceof RuleViolation)) throw error;
      const { code } = error.violation;
      if (code !== "UNKNOWN_PARENT") {
        throw new PeerFault(error.message, { score: code === "PROOF_OF_WORK" ? 10 : 1 });
      }
      if (link.peer.isOpen && link.state === "normal") sync.follow(link);
    } finally {
      // A block may be handled without waiting for anything: peers that send many must not keep others waiting.
      await new TimeSlice().yield();
    }
  };
  /**
   * Reads a block and its supplied transactions, after its proof of work is checked; undefined if the block is known.
   */
  const read = async (
    charged: ChainParts,
    { b: { block, txs } }: PayloadOf<"newBlock">,
  ): Promise<IncomingBlock | undefined> => {
    checkBlockSize(block.length, chainContext(parts.state.view(), parts.now()).limits);
    const incoming = await readOrBlame(() => readIncomingBlock(block));
    const standing = await shareHeader(incoming.key, () => checkHeaderAndWork(charged, incoming));
    if (standing === "known") return undefined;
    const blobs = txs.map(({ blob }) => blob);
    return readOrBlame(() => withTransactions(incoming, blobs));
  };
  return {
    isExpected: (key) => coming.has(key),
    async onWhole(link, message) {
      if (!isReady(link)) return postpone(link);
      await blaming(link, async (charged) => {
        const incoming = await read(charged, message);
        if (incoming !== undefined) await accept(link, charged, incoming);
      });
    },
    async onFluffy(link, message) {
      if (!isReady(link)) return postpone(link);
      await blaming(link, async (charged) => {
        const incoming = await read(charged, message);
        if (incoming === undefined) return;
        const requested = new Set(link.missing?.key === incoming.key ? link.missing.indices : []);
        link.missing = undefined;
        const missing = missingOf(parts, incoming);
        if (missing.some((index) => requested.has(index)))
          throw new PeerFault("not the transactions that were asked for");
        if (missing.length === 0 && (await isAccepted(link, charged, incoming))) return;
        // Nothing waits here for the answer, which contains the supplied transactions and the block again.
        const indices = missingOf(parts, { ...incoming, transactions: new Map() });
        link.missing = { key: incoming.key, indices };
        link.peer.notify(messages.requestMissing, {
          block_hash: incoming.id,
          current_blockchain_height: message.current_blockchain_height,
          missing_tx_indices: indices,
        });
      });
    },
  };
}
