import { mapSliced, type SliceOptions } from "@anulo/limits";
import { BadBytes, equalBytes, readBlock, toHex } from "@anulo/protocol";
import { BadBlock, type BlockImporter, ChainChanged, type FetchedBlock } from "../chain/import-blocks.ts";
import type { ChainParts } from "../chain/parts.ts";
import { type BlockQueue, type QueuedBlock, type Span, sizeOf } from "./block-queue.ts";

/** Adds the blocks of the queue to the chain, one run after another. */
export interface SpanImport {
  /** True while blocks are being added. */
  readonly isBusy: boolean;
  /** Begins, unless it is running: to be called whenever blocks arrived. */
  run(): void;
  /** Begins nothing more; resolves when what was begun is done. */
  stop(): Promise<void>;
}

export interface SpanImportOptions {
  readonly parts: ChainParts;
  readonly importer: BlockImporter;
  readonly queue: BlockQueue;
  /** The blocks of a span are in the chain, or were there before. */
  onAdded(span: Span): void;
  /** The peer sent bytes that are no block, or an invalid block. */
  onBad(span: Span, cause: BadBlock | BadBytes): void;
  /** The parent of the span is unknown, so the span was of no use. */
  onUnknownParent(span: Span): void;
  /** The parent of the span was known when its turn came, and is unknown now. */
  onParentLost(span: Span): void;
  /** Receives a bug of ours, with the span it occurred in, if any. */
  onFault(error: unknown, span?: Span): void;
}

function hasUnknownParent(error: unknown): boolean {
  return error instanceof BadBlock && error.violation.violation.code === "UNKNOWN_PARENT";
}

/** Reads blocks whose turn has come, in slices, without their transactions. */
async function readQueued(queued: readonly QueuedBlock[], slicing: SliceOptions): Promise<FetchedBlock[]> {
  const read = (block: QueuedBlock): FetchedBlock => {
    const { blob, txs, id, key, minerTransactionHash } = block;
    const incoming = { block: readBlock(blob), blob, id, key, minerTransactionHash };
    return { incoming, txs, size: sizeOf(block) };
  };
  return mapSliced(queued, read, slicing);
}

/** Joins the queue with the importer. */
export function createSpanImport(options: SpanImportOptions): SpanImport {
  const { parts, importer, queue } = options;
  const { read } = parts.store;
  let isStopped = false;
  let running: Promise<void> | undefined;
  const staged = new Set<Promise<void>>();
  /** The blocks (ids in hexadecimal) that were passed to the importer and are not written yet. */
  const stagedKeys = new Set<string>();
  const isKnown = (id: Uint8Array) =>
    read.heightOf(id) !== undefined || read.alternativeBlock(id) !== undefined;
  /**
   * A span whose parent is in the chain or staged; undefined while there is none. One that a peer has not sent is passed
   * over: it may have been invented, and what others sent must not wait for it.
   */
  const next = (): Span | undefined => {
    for (const span of queue.arrived()) {
      const { previousId } = span.fetched[0]!;
      const parentKey = toHex(previousId);
      const isUseful = !isKnown(span.blocks.at(-1)!.id);
      if (isUseful && (stagedKeys.has(parentKey) || isKnown(previousId))) return span;
      const isAwaited = queue.has(parentKey) || span.start > queue.gapFrom(read.height());
      if (isUseful && isAwaited) continue;
      queue.remove(span);
      if (isUseful) options.onUnknownParent(span);
      else options.onAdded(span);
    }
    return undefined;
  };
  const setStaged = (span: Span, isStaged: boolean) => {
    span.isStaged = isStaged;
    for (const { key } of span.blocks) {
      if (isStaged) stagedKeys.add(key);
      else stagedKeys.delete(key);
    }
  };
  const finish = (span: Span) => {
    setStaged(span, false);
    queue.remove(span);
    options.onAdded(span);
  };
  const fail = (span: Span, error: unknown) => {
    setStaged(span, false);
    if (error instanceof ChainChanged) return;
    queue.remove(span);
    if (hasUnknownParent(error)) options.onParentLost(span);
    else if (error instanceof BadBlock || error instanceof BadBytes) options.onBad(span, error);
    else options.onFault(error, span);
  };
  const hasNext = (span: Span) => {
    const { id } = span.blocks.at(-1)!;
    return queue.arrived().some(({ fetched: [first] }) => equalBytes(first!.previousId, id));
  };
  const stage = async (span: Span): Promise<void> => {
    setStaged(span, true);
    try {
      const blocks = await readQueued(span.fetched!, { turns: parts.turns });
      const { completion } = await importer.stage(blocks, { isMoreComing: hasNext(span) });
      const settled: Promise<void> = completion
        .then(
          () => finish(span),
          (error) => fail(span, error),
        )
        .catch((error) => options.onFault(error))
        .then(() => {
          staged.delete(settled);
          run();
        });
      staged.add(settled);
    } catch (error) {
      fail(span, error);
    }
  };
  const runAll = async () => {
    try {
      for (let span = next(); span !== undefined && !isStopped; span = next()) await stage(span);
    } finally {
      importer.write();
    }
  };
  const run = () => {
    if (isStopped || running !== undefined) return;
    running = runAll()
      .catch((error) => options.onFault(error))
      .then(() => {
        running = undefined;
      });
  };
  return {
    get isBusy() {
      return running !== undefined || staged.size > 0;
    },
    run,
    async stop() {
      isStopped = true;
      await running;
      await Promise.all(staged);
    },
  };
}
