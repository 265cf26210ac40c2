import { mapSliced } from "@anulo/limits";
import { BadBytes, readBlock, toHex } from "@anulo/protocol";
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
async function readQueued(queued: readonly QueuedBlock[]): Promise<FetchedBlock[]> {
  return mapSliced(queued, (block) => {
    const { blob, txs, id, key, minerTransactionHash } = block;
    const incoming = { block: readBlock(blob), blob, id, key, minerTransactionHash };
    return { incoming, txs, size: sizeOf(block) };
  });
}

/** Joins the queue with the importer. */
export function createSpanImport(options: SpanImportOptions): SpanImport {
  const { parts, importer, queue } = options;
  const { read } = parts.store;
  let isStopped = false;
  let running: Promise<void> | undefined;
  const staged = new Set<Promise<void>>();
  const isKnown = (id: Uint8Array) =>
    read.heightOf(id) !== undefined || read.alternativeBlock(id) !== undefined;
  /** The span whose turn it is; undefined until it and its parent have arrived. */
  const next = (): Span | undefined => {
    for (let span = queue.next(); span?.fetched !== undefined; span = queue.next()) {
      const { previousId } = span.fetched[0]!;
      const isUseful = !isKnown(span.blocks.at(-1)!.id);
      if (isUseful && (isKnown(previousId) || isStaged(previousId))) return span;
      const isAwaited = queue.has(toHex(previousId)) || span.start > queue.gapFrom(read.height());
      if (isUseful && isAwaited) return undefined;
      queue.remove(span);
      if (isUseful) options.onUnknownParent(span);
      else options.onAdded(span);
    }
    return undefined;
  };
  const isStaged = (id: Uint8Array) => {
    const key = toHex(id);
    return queue.spans.some((span) => span.isStaged && span.blocks.some((block) => block.key === key));
  };
  const finish = (span: Span) => {
    queue.remove(span);
    options.onAdded(span);
  };
  const fail = (span: Span, error: unknown) => {
    span.isStaged = false;
    if (error instanceof ChainChanged) return;
    queue.remove(span);
    if (hasUnknownParent(error)) options.onParentLost(span);
    else if (error instanceof BadBlock || error instanceof BadBytes) options.onBad(span, error);
    else options.onFault(error, span);
  };
  const hasNext = (span: Span) => {
    const { key } = span.blocks.at(-1)!;
    const next = queue.next();
    return next?.fetched !== undefined && toHex(next.fetched[0]!.previousId) === key;
  };
  const stage = async (span: Span): Promise<void> => {
    span.isStaged = true;
    try {
      const blocks = await readQueued(span.fetched!);
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
