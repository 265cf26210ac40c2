import type { PeerLink } from "./link.ts";
import type { NeededBlock } from "./needed-blocks.ts";

/**
 * A received block, kept as bytes, since the parsed block takes many times their memory; its id shows that it is the
 * requested one.
 */
export interface QueuedBlock {
  readonly id: Uint8Array;
  /** The id in hexadecimal. */
  readonly key: string;
  /** Id (32 bytes) of the block below. */
  readonly previousId: Uint8Array;
  readonly minerTransactionHash: Uint8Array;
  readonly blob: Uint8Array;
  readonly txs: readonly Uint8Array[];
}

/** Bytes of a block with its transactions. */
export function sizeOf({ blob, txs }: QueuedBlock): number {
  return txs.reduce((sum, tx) => sum + tx.length, blob.length);
}

/** Bytes that a requested or fetched block takes besides its own: its ids, keys and entries in lists. */
const BLOCK_OVERHEAD_BYTES = 4096;

/**
 * Memory counted for what one peer is asked for, at most: weights are only its word, and must not fill the queue. What
 * arrives is counted as it is.
 */
const MAX_RESERVED_BYTES = 1024 * 1024;

/** Memory for a requested or fetched block, by its bytes. */
export function queuedBytes(bytes: number): number {
  return bytes + BLOCK_OVERHEAD_BYTES;
}

/** Consecutive blocks requested from one peer; `fetched` once they are received. */
export interface Span {
  readonly start: number;
  readonly blocks: readonly NeededBlock[];
  /** The peer of the last request, and its time (milliseconds). */
  link: PeerLink;
  askedAt: number;
  fetched: readonly QueuedBlock[] | undefined;
  /** Memory in bytes: as announced until it is received, then as received; and the bytes per second of the transfer. */
  bytes: number;
  rate: number;
  /** Passed to the importer, not written yet. */
  isStaged: boolean;
}

/** A span whose blocks are here. */
export type FetchedSpan = Span & { readonly fetched: readonly QueuedBlock[] };

function isArrived(span: Span): span is FetchedSpan {
  return span.fetched !== undefined && !span.isStaged;
}

/** Requested and fetched spans, lowest first. Source: block_queue.cpp. */
export interface BlockQueue {
  readonly spans: readonly Span[];
  /** Memory of the requested and fetched blocks, in bytes. */
  readonly bytes: number;
  /** Whether a block (id in hexadecimal) is requested or fetched. */
  has(key: string): boolean;
  reserve(link: PeerLink, blocks: readonly NeededBlock[], now: number): Span;
  /** The span of exactly these blocks (ids in hexadecimal); another one may have taken its place since it was asked for. */
  find(keys: readonly string[]): Span | undefined;
  remove(span: Span): void;
  /** The first height from `height` on whose block is neither requested nor fetched. */
  gapFrom(height: number): number;
  /**
   * Removes what was requested from this peer; with `all` also the blocks it sent that are not staged, otherwise only
   * those of them above `gap`.
   */
  forget(link: PeerLink, options: { readonly all: true } | { readonly gap: number }): void;
  /** The fetched spans that are not staged yet, lowest first. */
  arrived(): FetchedSpan[];
}

/** Creates an empty queue. */
export function createBlockQueue(): BlockQueue {
  const spans: Span[] = [];
  const keys = new Set<string>();
  const remove = (span: Span) => {
    const at = spans.indexOf(span);
    if (at === -1) return;
    spans.splice(at, 1);
    for (const { key } of span.blocks) keys.delete(key);
  };
  return {
    spans,
    get bytes() {
      return spans.reduce((sum, span) => sum + span.bytes, 0);
    },
    has: (key) => keys.has(key),
    reserve(link, blocks, now) {
      const start = blocks[0]!.height;
      const announced = blocks.reduce((sum, { weight }) => sum + queuedBytes(weight), 0);
      const bytes = Math.min(announced, MAX_RESERVED_BYTES);
      const state = { fetched: undefined, bytes, rate: 0, isStaged: false };
      const span: Span = { start, blocks, link, askedAt: now, ...state };
      const after = spans.findIndex((other) => other.start > start);
      spans.splice(after === -1 ? spans.length : after, 0, span);
      for (const { key } of blocks) keys.add(key);
      return span;
    },
    find: (keys) =>
      spans.find(
        ({ blocks }) => blocks.length === keys.length && blocks.every(({ key }, i) => key === keys[i]),
      ),
    remove,
    gapFrom(height) {
      let gap = height;
      for (const { start, blocks } of spans) if (start <= gap) gap = Math.max(gap, start + blocks.length);
      return gap;
    },
    forget(link, which) {
      const isUseless = ({ fetched, start }: Span) =>
        "all" in which || fetched === undefined || start > which.gap;
      for (const span of spans.filter((each) => each.link === link && !each.isStaged)) {
        if (isUseless(span)) remove(span);
      }
    },
    arrived: () => spans.filter(isArrived),
  };
}

/**
 * The queue as one line: `.` requested, `o` fetched, `m` next to be added, `_` a gap, `<` an overlap. Source:
 * block_queue.cpp `get_overview`.
 */
export function overviewOf({ spans }: BlockQueue, chainHeight: number): string {
  let text = "";
  let expected = chainHeight;
  for (const { start, blocks, fetched } of spans) {
    if (expected > start) {
      text += "<";
      continue;
    }
    if (expected < start) text += "_".repeat(Math.max(1, Math.floor((start - expected) / blocks.length)));
    text += fetched === undefined ? "." : start === chainHeight ? "m" : "o";
    expected = start + blocks.length;
  }
  return `[${text}]`;
}

/** The speed at which each peer sends blocks, in percent of the fastest. Source: block_queue.cpp `get_speed`. */
export function speedOf({ spans }: BlockQueue, link: PeerLink): number {
  const rates = new Map<PeerLink, number>();
  for (const { link: from, rate, fetched } of spans) {
    if (fetched === undefined) continue;
    const before = rates.get(from);
    rates.set(from, before === undefined ? rate : (before + rate) / 2);
  }
  const own = rates.get(link) ?? 0;
  const best = Math.max(...rates.values());
  return own > 0 && best > 0 ? Math.round((100 * own) / best) : 100;
}
