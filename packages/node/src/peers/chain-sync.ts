import { KNOWN_GROUP_BLOCKS, RuleViolation } from "@anulo/consensus";
import { runSliced } from "@anulo/limits";
import { type Clock, type CoreSyncData, PeerFault } from "@anulo/p2p";
import { type BadBytes, equalBytes, nextWholeBlock, toHex } from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";
import { heavierBranch } from "../chain/alternative-chain.ts";
import { adoptHeavierBranch } from "../chain/chain.ts";
import { BadBlock, createBlockImporter } from "../chain/import-blocks.ts";
import type { ChainParts } from "../chain/parts.ts";
import { type Backoff, createBackoff } from "./backoff.ts";
import {
  type BlockQueue,
  createBlockQueue,
  type QueuedBlock,
  queuedBytes,
  type Span,
  sizeOf,
} from "./block-queue.ts";
import { shortHistory } from "./chain-history.ts";
import { checkBlocks, checkChain } from "./check-answers.ts";
import { checkSyncData } from "./check-sync-data.ts";
import { createSpanImport, type SpanImport } from "./import-spans.ts";
import { noteHeight, type PeerLink, type PendingRequest } from "./link.ts";
import { MAX_BLOCKS_OF_REQUEST, messages, type PayloadOf } from "./messages.ts";
import { createMissingBlocks, isWhole, type MissingBlocks, pendingSpan } from "./missing-blocks.ts";
import { type NeededBlock, NeededBlocks } from "./needed-blocks.ts";
import { createSyncState, type SyncState } from "./sync-state.ts";

export interface ChainSyncOptions {
  readonly parts: ChainParts;
  readonly clock: Clock;
  links(): readonly PeerLink[];
  /** Whether to count as synchronized without any peer. */
  readonly isOffline: boolean;
  /** Fetches nothing. */
  readonly noSync?: boolean | undefined;
  /** Maximum bytes of blocks fetched ahead. */
  readonly maxQueueBytes?: number | undefined;
  /** Blocks per request; by default by their weights. */
  readonly blocksPerRequest?: number | undefined;
  /** Some blocks were added: the chain has `height` of `target` blocks. */
  onProgress(height: number, target: number): void;
  /** Our chain is as long as those of the peers, as far as they have sent blocks. */
  onSynchronized(): void;
  /** Receives a bug of ours. */
  onFault(error: unknown): void;
}

const DEFAULT_QUEUE_BYTES = 32 * 1024 * 1024;
/** Spans that may be requested or fetched at the same time: each time blocks are added, all of them are looked at. */
const MAX_SPANS = 512;
/** Blocks per request if their sizes are unknown. Source: cryptonote_config.h. */
const DEFAULT_BLOCKS = 20;
/** Bytes that one answer should have. */
const ANSWER_BYTES = 512 * 1024;
/** Whole bytes: the sum of fractions for so many blocks would be too much by its rounding. */
const UNKNOWN_BLOCK_BYTES = Math.floor(ANSWER_BYTES / DEFAULT_BLOCKS);
/** Source: cryptonote_protocol_handler.inl `NON_RESPONSIVE_PEER_KICK_TIME`, `IDLE_PEER_KICK_TIME`. */
const SILENCE_MS = 20_000;
const ANSWER_TIMEOUT_MS = 240_000;
/** Bytes of a small block that its weight does not count. */
const MAX_UNANNOUNCED_BYTES = 4096;
/** Points for a peer that sent an invalid block: those of its host and its own. Source: `drop_connections`. */
const BAD_BLOCK = { score: 6 };
const BAD_WORK = { score: 10 };

/** Synchronises our chain with those of the peers. Source: cryptonote_protocol_handler.inl. */
export class ChainSync {
  readonly queue: BlockQueue = createBlockQueue();
  readonly #options: ChainSyncOptions;
  readonly #read: ChainReader;
  readonly #import: SpanImport;
  /** Delays requests for blocks that could not be added. */
  readonly #backoff: Backoff;
  readonly #state: SyncState;
  readonly #missing: MissingBlocks;
  #isAdopting = false;

  constructor(options: ChainSyncOptions) {
    this.#options = options;
    this.#read = options.parts.store.read;
    this.#state = createSyncState({ ...options, read: this.#read, queue: this.queue });
    this.#missing = createMissingBlocks({ read: this.#read, queue: this.queue, clock: options.clock });
    this.#backoff = createBackoff(options.clock);
    this.#import = createSpanImport({
      parts: options.parts,
      importer: createBlockImporter(options.parts),
      queue: this.queue,
      onAdded: () => this.#onAdded(),
      onBad: (span, cause) => this.#onBad(span, cause),
      onUnknownParent: ({ link }) => this.#followAgain(link),
      onParentLost: ({ link }) => {
        this.#backoff.failed();
        this.#followAgain(link);
      },
      onFault: (error, span) => {
        this.#backoff.failed();
        if (span !== undefined) this.#followAgain(span.link);
        options.onFault(error);
      },
    });
  }

  /** Length in blocks of the longest chain being fetched; 0 when none is. */
  get target(): number {
    return this.#state.target;
  }

  /** True once our chain was as long as the peers', as far as they have sent blocks. */
  get isSynchronized(): boolean {
    return this.#state.isSynchronized;
  }

  /** True while fetched blocks are being added. */
  get isBusy(): boolean {
    return this.#import.isBusy;
  }

  /** Compares a peer's chain data with ours; throws PeerFault. */
  consider(link: PeerLink, data: CoreSyncData): void {
    if (link.state === "synchronizing") return;
    checkSyncData(this.#options.parts.network, data);
    noteHeight(link, data.currentHeight);
    link.pruningSeed = data.pruningSeed;
    const isKnown = this.#has({ id: data.topId, key: toHex(data.topId) });
    // No chain is fetched over anonymity networks.
    if (!isKnown && link.peer.zone === "public") {
      if (link.state === "normal" && this.#options.noSync !== true) this.follow(link);
    } else if (link.state === "normal" && data.currentHeight >= this.#read.height()) {
      this.#state.check();
    }
    if (isKnown) this.#adoptHeavierBranch();
  }

  /**
   * All blocks of a peer's chain may be among our side blocks, for example after blocks were popped: then nothing has
   * to be fetched.
   */
  #adoptHeavierBranch(): void {
    const { parts, onFault } = this.#options;
    if (this.#isAdopting || heavierBranch(parts) === undefined) return;
    this.#isAdopting = true;
    void adoptHeavierBranch(parts)
      .catch((error) => {
        // The invalid block is recorded, and the peer that sent it is no longer known.
        if (!(error instanceof RuleViolation)) onFault(error);
      })
      .finally(() => {
        this.#isAdopting = false;
      });
  }

  /** Fetches the chain of a peer from where it parts from ours. */
  follow(link: PeerLink): void {
    link.needed = NeededBlocks.none();
    this.#requestChain(link, { isContinuation: false });
  }

  #followAgain(link: PeerLink): void {
    if (link.peer.isOpen && link.pending === undefined) this.follow(link);
  }

  async onChain(link: PeerLink, answer: PayloadOf<"chain">): Promise<void> {
    const { pending, newestAnnounced } = link;
    if (pending?.what !== "chain") throw new PeerFault("a chain that nobody asked for", { score: 1 });
    const knownBlocks = {
      read: this.#read,
      isInvalid: (key: string) => this.#options.parts.invalidBlocks.has(key),
      isExpected: (key: string) => this.queue.has(key),
    };
    let knownCount: number;
    try {
      knownCount = await runSliced(checkChain(knownBlocks, answer, pending), link.peer.slicing);
    } catch (error) {
      if (!this.#followsPopped(pending, answer)) throw error;
      if (link.pending === pending) link.pending = undefined;
      return this.#followAgain(link);
    }
    // The peer may have been disconnected meanwhile.
    if (link.pending !== pending) return;
    link.pending = undefined;
    const blocks = this.#fetchable(answer);
    const last = blocks.at(blocks.length - 1)!;
    noteHeight(link, answer.total_height);
    blocks.drop(knownCount);
    const isSame = newestAnnounced?.height === last.height && last.height + 1 < link.height;
    if (isSame && blocks.findIndex((block) => !this.#has(block)) === -1)
      throw new PeerFault("a chain that does not go on");
    link.newestAnnounced = { id: last.id.slice(), height: last.height };
    link.needed = blocks;
    if (!link.neededMemory.resize(blocks.byteLength)) {
      throw new PeerFault("tells of more blocks than there is memory for");
    }
    this.#proceed(link);
  }

  async onBlocks(link: PeerLink, answer: PayloadOf<"blocks">): Promise<void> {
    const { pending } = link;
    if (pending?.what !== "blocks") throw new PeerFault("blocks that nobody asked for", { score: 1 });
    const fetched = await runSliced(checkBlocks(answer, pending), link.peer.slicing);
    if (link.pending !== pending) return;
    link.pending = undefined;
    noteHeight(link, answer.current_blockchain_height);
    const span = this.queue.find(pending.keys);
    if (span !== undefined && span.link === link) checkAnnounced(span.blocks, fetched);
    if (span !== undefined && span.fetched === undefined)
      this.#fill(span, { link, fetched, since: pending.at });
    this.#import.run();
    this.#proceed(link);
  }

  /** The announced blocks that may be fetched; throws PeerFault if they do not belong to the known chain. */
  #fetchable(answer: PayloadOf<"chain">): NeededBlocks {
    const { start_height: start, m_block_ids: ids, m_block_weights: weights } = answer;
    const count = this.#options.parts.confirmedBlocks.confirm({
      start,
      ids,
      weights: weights.length === 0 ? undefined : weights,
      isToTop: start + ids.length >= answer.total_height,
    });
    // Source: cryptonote_protocol_handler.inl `handle_response_chain_entry`.
    if (count === 0 || count + KNOWN_GROUP_BLOCKS <= ids.length) {
      throw new PeerFault("a chain that is not the known one", { score: 1 });
    }
    return new NeededBlocks({ start, ids: ids.slice(0, count), weights: weights.slice(0, count) });
  }

  closed(link: PeerLink): void {
    this.#forget(link);
    link.pending = undefined;
    link.neededMemory.release();
    this.#proceedAll();
  }

  /** Once a second: handles peers that do not answer. */
  tick(): void {
    for (const link of this.#options.links()) if (this.#isSilent(link)) this.#giveUp(link);
    this.#import.run();
    this.#proceedAll();
    this.#state.tick();
  }

  /** Requests nothing more; resolves when the blocks being added are added. */
  stop(): Promise<void> {
    return this.#import.stop();
  }

  /** Whether an answer follows a block that was on our chain when we sent the request and has been popped since. */
  #followsPopped(
    { ids }: PendingRequest & { what: "chain" },
    { m_block_ids: [first] }: PayloadOf<"chain">,
  ): boolean {
    if (first === undefined || !ids.some((id) => equalBytes(id, first))) return false;
    return !this.#has({ id: first, key: toHex(first) });
  }

  #has({ id, key }: Pick<NeededBlock, "id" | "key">): boolean {
    const { heightOf, alternativeBlock } = this.#read;
    return this.queue.has(key) || heightOf(id) !== undefined || alternativeBlock(id) !== undefined;
  }

  /** The same for a block at a height, without looking up its id above our chain. */
  #isHeldOrRequested(block: NeededBlock): boolean {
    if (block.height < this.#read.height()) return this.#has(block);
    return this.queue.has(block.key) || this.#read.alternativeBlock(block.id) !== undefined;
  }

  #requestChain(link: PeerLink, { isContinuation }: { readonly isContinuation: boolean }): void {
    const ids = shortHistory(this.#read);
    const announced = link.newestAnnounced;
    const isAhead = isContinuation && announced !== undefined && toHex(announced.id) !== toHex(ids[0]!);
    const overlap = isAhead ? Number.POSITIVE_INFINITY : this.#read.height();
    link.state = "synchronizing";
    const block_ids = isAhead ? [announced.id, ...ids] : ids;
    link.pending = { what: "chain", at: this.#options.clock.milliseconds(), ids: block_ids, overlap };
    link.peer.notify(messages.requestChain, { block_ids, prune: false });
  }

  #requestBlocks(link: PeerLink, blocks: readonly NeededBlock[]): void {
    const keys = blocks.map(({ key }) => key);
    link.state = "synchronizing";
    link.pending = {
      what: "blocks",
      at: this.#options.clock.milliseconds(),
      start: blocks[0]!.height,
      keys,
    };
    link.peer.notify(messages.requestBlocks, { blocks: blocks.map(({ id }) => id), prune: false });
  }

  /** Removes a peer's pending request, and its announced blocks that can never be joined to our chain. */
  #forget(link: PeerLink): void {
    this.queue.forget(link, { gap: this.queue.gapFrom(this.#read.height()) });
  }

  /** Sends the next request to a peer that has answered the last one. */
  #proceed(link: PeerLink): void {
    if (!link.peer.isOpen || link.pending !== undefined) return;
    const late = this.#missing.overdueSpan(link);
    if (late !== undefined) {
      this.#missing.askAgain(late, link);
      this.#requestBlocks(link, late.blocks);
      return;
    }
    this.#dropUseless(link);
    if (this.#isBelowWanted(link)) this.follow(link);
    else if (link.needed.length === 0) this.#requestFurther(link);
    else this.#requestNext(link);
  }

  /**
   * Drops the blocks at the front that the peer does not keep, or that are here or requested: each is looked at once,
   * however often the peer's turn comes.
   */
  #dropUseless({ needed, height, pruningSeed }: PeerLink): void {
    for (let first = needed.at(0); first !== undefined; first = needed.at(0)) {
      const whole = nextWholeBlock(first.height, height, pruningSeed);
      if (whole === first.height && !this.#isHeldOrRequested(first)) return;
      needed.drop(Math.max(1, whole - first.height, this.#countInChain(needed)));
    }
  }

  /** How many from the first on are in our chain; few are looked up, since those below one that is there are, too. */
  #countInChain(needed: NeededBlocks): number {
    let count = 0;
    let end = Math.min(needed.length, this.#read.height() - needed.at(0)!.height);
    while (count < end) {
      const middle = (count + end) >> 1;
      const { id, height } = needed.at(middle)!;
      if (this.#read.heightOf(id) === height) count = middle + 1;
      else end = middle;
    }
    return count;
  }

  #requestNext(link: PeerLink): void {
    const candidates = this.#backoff.isWaiting ? [] : this.#choose(link);
    const isTooMuch = this.#isQueueFull() && !this.#isNext(candidates) && !this.#fillsGap(candidates);
    const blocks = isTooMuch ? [] : candidates;
    if (blocks.length === 0) {
      link.state = "standby";
      return;
    }
    this.queue.reserve(link, blocks, this.#options.clock.milliseconds());
    this.#requestBlocks(link, blocks);
  }

  #proceedAll(): void {
    for (const link of this.#options.links()) {
      if (link.state === "standby") this.#proceed(link);
      else if (link.state === "normal" && this.#isBelowWanted(link)) this.follow(link);
    }
  }

  #isBelowWanted(link: PeerLink): boolean {
    return !this.#backoff.isWaiting && this.#missing.isBelowWanted(link);
  }

  #requestFurther(link: PeerLink): void {
    const { newestAnnounced, height } = link;
    const knownHeight = newestAnnounced === undefined ? this.#read.height() : newestAnnounced.height + 1;
    if (knownHeight < height) {
      this.#requestChain(link, { isContinuation: newestAnnounced !== undefined });
      return;
    }
    if (newestAnnounced !== undefined && !this.#has({ ...newestAnnounced, key: toHex(newestAnnounced.id) })) {
      // Blocks that were fetched from it were removed again, for example after a bug of ours.
      if (this.#backoff.isWaiting) link.state = "standby";
      else this.follow(link);
      return;
    }
    if (link.hasNewBlock) {
      link.hasNewBlock = false;
      this.follow(link);
      return;
    }
    // Where another peer does not send blocks of its chain, it is asked for them.
    if (pendingSpan(this.queue.spans, link) !== undefined) {
      link.state = "standby";
      return;
    }
    link.state = "normal";
    this.#state.check();
  }

  /** The next blocks to request from this peer, as many as make one answer. */
  #choose(link: PeerLink): NeededBlock[] {
    const { blocksPerRequest } = this.#options;
    const isFetchable = (block: NeededBlock) => !this.#isHeldOrRequested(block) && isWhole(link, block);
    const selection: NeededBlock[] = [];
    let bytes = 0;
    const most = Math.min(blocksPerRequest ?? MAX_BLOCKS_OF_REQUEST, MAX_BLOCKS_OF_REQUEST);
    for (let i = 0; i < most; i++) {
      const block = link.needed.at(i);
      if (block === undefined) break;
      bytes += block.weight === 0 ? UNKNOWN_BLOCK_BYTES : queuedBytes(block.weight);
      const isTooMuch = selection.length > 0 && bytes > ANSWER_BYTES && blocksPerRequest === undefined;
      if (isTooMuch || !isFetchable(block)) break;
      selection.push(block);
    }
    return selection;
  }

  #isQueueFull(): boolean {
    const { bytes, spans } = this.queue;
    return spans.length >= MAX_SPANS || bytes >= (this.#options.maxQueueBytes ?? DEFAULT_QUEUE_BYTES);
  }

  /** Whether these blocks follow our chain: what other peers told or sent never keeps them from being fetched. */
  #isNext([first]: readonly NeededBlock[]): boolean {
    return first !== undefined && first.height <= this.#read.height();
  }

  /**
   * Whether these blocks are the next that no peer is asked for, while later ones are: pruned peers may have filled the
   * queue with their stripe, which waits for another's. Source: cryptonote_protocol_handler.inl
   * `request_missing_objects`, `stripe_proceed_main`.
   */
  #fillsGap([first]: readonly NeededBlock[]): boolean {
    const gap = this.queue.gapFrom(this.#read.height());
    return first !== undefined && first.height <= gap && this.queue.spans.some(({ start }) => start > gap);
  }

  #fill(
    span: Span,
    { link, fetched, since }: { link: PeerLink; fetched: readonly QueuedBlock[]; since: number },
  ): void {
    const seconds = Math.max(0.001, (this.#options.clock.milliseconds() - since) / 1000);
    span.fetched = fetched;
    const sizes = fetched.map(sizeOf);
    span.bytes = sizes.reduce((sum, size) => sum + queuedBytes(size), 0);
    span.rate = sizes.reduce((sum, size) => sum + size, 0) / seconds;
    span.link = link;
  }

  #onAdded(): void {
    this.#backoff.succeeded();
    this.#state.onAdded();
    this.#options.onProgress(this.#read.height(), this.target);
    this.#proceedAll();
    if (this.queue.spans.length === 0) this.#state.check();
  }

  #onBad({ link }: Span, cause: BadBlock | BadBytes): void {
    const isBadWork = cause instanceof BadBlock && cause.violation.violation.code === "PROOF_OF_WORK";
    const { host } = link.peer.address;
    this.queue.forget(link, { all: true });
    link.peer.drop(cause.message, isBadWork ? BAD_WORK : BAD_BLOCK);
    for (const other of this.#options.links()) {
      if (other !== link && other.peer.address.host === host) other.peer.drop(cause.message);
    }
  }

  #isSilent({ pending, peer }: PeerLink): boolean {
    if (pending === undefined) return false;
    const { clock } = this.#options;
    const waited = clock.milliseconds() - pending.at;
    const silence = 1000 * (clock.seconds() - peer.traffic.lastReceived);
    return waited > ANSWER_TIMEOUT_MS || (waited > SILENCE_MS && silence > SILENCE_MS);
  }

  #giveUp(link: PeerLink): void {
    link.score--;
    if (link.score < -1) {
      link.peer.drop("does not answer", { score: 5 });
      return;
    }
    link.pending = undefined;
    this.#forget(link);
    link.state = "standby";
  }
}

/**
 * Throws PeerFault if blocks are much larger than the weights that their peer announced, which determined how many were
 * requested. A weight counts all bytes of the transactions; the block's own bytes, mostly ids, are added to it.
 */
function checkAnnounced(blocks: readonly NeededBlock[], fetched: readonly QueuedBlock[]): void {
  for (const [i, { weight }] of blocks.entries()) {
    if (weight === 0) continue;
    const limit = 2 * weight + MAX_UNANNOUNCED_BYTES;
    if (sizeOf(fetched[i]!) > limit)
      throw new PeerFault("a block larger than it was announced", { score: 5 });
  }
}
