import { availableParallelism } from "node:os";
import { networks } from "@anulo/protocol";
import { BadSource, type ChainSource, openChainSource } from "@anulo/storage";
import { createBlockImporter } from "../chain/import-blocks.ts";
import { type OpenChain, type OpenChainOptions, openChain } from "../chain/open-chain.ts";
import type { ChainParts } from "../chain/parts.ts";
import type { NodeOptions } from "../node-options.ts";
import { createPow } from "../pow/pow.ts";
import { stopEach } from "../stop-each.ts";
import { createVerifiers } from "../verify-workers/verifiers.ts";
import { findCommonHeight } from "./common-height.ts";
import { explain, type FailedRun } from "./explain-failure.ts";
import { runsFrom } from "./runs.ts";

/** How far an import has come. */
export interface ImportProgress {
  /** Blocks of our chain. */
  readonly height: number;
  /** The part of the source that is imported, 0 to 1. */
  readonly done: number;
}

export interface ImportOptions
  extends Pick<
    NodeOptions,
    | "network"
    | "syncMode"
    | "fixedDifficulty"
    | "seedSchedule"
    | "checkpoints"
    | "knownBlocks"
    | "hashing"
    | "verifyThreads"
    | "onMigration"
  > {
  /** A monerod's data folder, its `lmdb` folder or file, or a `blockchain.raw`. */
  readonly from: string;
  /** The database file to import into. */
  readonly databasePath: string | undefined;
  /** Height of the last block to import; by default all are. */
  readonly last?: number | undefined;
  /** Aborts the import: what was imported remains, and the next import continues there. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
  readonly now?: (() => number) | undefined;
}

export interface ImportResult {
  /** Blocks of our chain before and after. */
  readonly before: number;
  readonly height: number;
  /** Id (32 bytes) of its newest block. */
  readonly topId: Uint8Array;
  /** False if the signal aborted it. */
  readonly isComplete: boolean;
}

const systemClock = () => Math.floor(Date.now() / 1000);

/**
 * Imports the chain from another program's files, block by block, each verified like one from a peer; as from peers,
 * known blocks need no proofs. It continues where our chain and the source part. Rejects with BadSource, which contains
 * the block and its place, and with WrongDatabase, DamagedDatabase, DatabaseInUse.
 */
export async function importChain(options: ImportOptions): Promise<ImportResult> {
  const { verifyThreads = availableParallelism(), now = systemClock } = options;
  const network = typeof options.network === "string" ? networks[options.network] : options.network;
  const source = openChainSource(options.from, network.name);
  const pow = createPow({ ...options.hashing, threads: Math.max(1, verifyThreads) });
  const verifiers = createVerifiers({ threads: verifyThreads, pow });
  let chain: OpenChain | undefined;
  try {
    chain = await openChain({ ...chainOptions(options), network, discharge: verifiers.discharge, now });
    return await importAll(chain.parts, source, options);
  } finally {
    source.close();
    await stopEach([() => verifiers.stop(), () => pow.stop(), () => chain?.close()]);
  }
}

function chainOptions(options: ImportOptions): Omit<OpenChainOptions, "network" | "discharge" | "now"> {
  const { databasePath: path, syncMode, onMigration } = options;
  const { fixedDifficulty, seedSchedule, checkpoints, knownBlocks } = options;
  return { path, syncMode, onMigration, fixedDifficulty, seedSchedule, checkpoints, knownBlocks };
}

async function importAll(
  parts: ChainParts,
  source: ChainSource,
  options: ImportOptions,
): Promise<ImportResult> {
  const before = parts.store.read.height();
  const importer = createBlockImporter(parts);
  const importing = { parts, source, path: options.from, last: options.last, signal: options.signal };
  await preparePruning(parts, source, options.from);
  const start = await findCommonHeight(importing);
  const writing = new Set<Promise<void>>();
  const failures: FailedRun[] = [];
  try {
    for await (const run of runsFrom(importing, start)) {
      if (failures.length > 0 || options.signal?.aborted === true) break;
      const { completion } = await importer.stage(run.blocks, { isMoreComing: true });
      const noted: Promise<void> = completion
        .then(() => options.onProgress?.({ height: run.end, done: run.done }))
        .catch((error) => void failures.push({ run, error }))
        .then(() => void writing.delete(noted));
      writing.add(noted);
    }
  } finally {
    importer.write();
    await Promise.all(writing);
  }
  // The runs above the lowest failed one fail because of it.
  const [first] = failures.sort((a, b) => a.run.end - b.run.end);
  if (first !== undefined) throw await importBelow(parts, first, options.from);
  await parts.store.flush();
  const { height, topId } = parts.state.view();
  return { before, height, topId, isComplete: options.signal?.aborted !== true };
}

/** Imports the blocks below the one at fault; returns the error to report. */
async function importBelow(parts: ChainParts, failure: FailedRun, path: string): Promise<unknown> {
  const { error, remaining } = await explain(path, failure);
  if (remaining.length === 0) return error;
  const { completion } = await createBlockImporter(parts).stage(remaining);
  await completion;
  return error;
}

/** A pruned source can only be imported into a pruned database: an empty one gets the same stripe. Throws BadSource. */
async function preparePruning(
  { store }: ChainParts,
  { pruningSeed }: ChainSource,
  path: string,
): Promise<void> {
  const own = store.read.pruningSeed();
  if (own !== 0 && pruningSeed !== 0 && own !== pruningSeed) {
    throw new BadSource(path, "it was pruned by another stripe than our database: give an empty data folder");
  }
  if (pruningSeed === 0 || store.read.height() > 1 || own !== 0) return;
  await store.whenWritable(() => store.write((writer) => writer.startPruning(pruningSeed)));
}
