import type { ChainView } from "@anulo/consensus";
import { type Block, toHex } from "@anulo/protocol";
import type { AppendedBlock, AppendObserver } from "../chain/parts.ts";
import { type Backlog, publicEntries, type WaitingTransaction, waitingCandidate } from "../mining/backlog.ts";
import { type MinerData, minerDataOf } from "../mining/miner-data.ts";
import { compareTableOrder } from "../pool/table-order.ts";
import type { FullPoolNews } from "./pool-news.ts";

/** The facts recorded of a block when it was appended. */
export interface RecordedBlock {
  readonly block: Block;
  /** 32 bytes. */
  readonly id: Uint8Array;
  readonly height: number;
  /** Those of its transactions that were not published while they waited. */
  readonly unannounced: readonly FullPoolNews[];
  /** The miner data after it; undefined where no subscriber wants it. */
  readonly minerData: MinerData | undefined;
}

/** Records facts of blocks until they are announced. */
export interface BlockRecorder {
  readonly observe: AppendObserver;
  /** Returns the record of a block by its id (32 bytes), once; undefined where none was wanted. */
  take(id: Uint8Array): RecordedBlock | undefined;
}

export interface RecorderOptions {
  readonly backlog: Backlog;
  /** Whether any subscriber wants blocks or transactions. */
  isWanted(): boolean;
  /** Whether any subscriber wants miner data. */
  isMinerDataWanted(): boolean;
  /** Returns what is to be published of those transactions of a block that were not announced. */
  unannounced(appended: AppendedBlock): readonly FullPoolNews[];
}

/**
 * Number of records kept; records of writes that failed, or of more blocks than one write has, are removed beyond it.
 */
const MAX_NOTES = 5000;

/** Creates the recorder. */
export function createRecorder(options: RecorderOptions): BlockRecorder {
  const notes = new Map<string, RecordedBlock>();
  return {
    observe(view, appended) {
      if (!options.isWanted()) return;
      const unannounced = options.unannounced(appended);
      const { block, id, key } = appended.incoming;
      const minerData = options.isMinerDataWanted()
        ? minerDataAfter(options.backlog, view, appended)
        : undefined;
      notes.delete(key);
      notes.set(key, { block, id, height: view.height - 1, unannounced, minerData });
      for (const oldest of notes.keys()) {
        if (notes.size <= MAX_NOTES) break;
        notes.delete(oldest);
      }
    },
    take(id) {
      const key = toHex(id);
      const note = notes.get(key);
      notes.delete(key);
      return note;
    },
  };
}

function minerDataAfter(backlog: Backlog, view: ChainView, appended: AppendedBlock): MinerData {
  return minerDataOf(view, backlog.choose(view, waitingAfter(appended)));
}

/**
 * The pool after a block, even if transactions of blocks below are still in it, or those of removed blocks are not in
 * it yet.
 */
function waitingAfter({ pool, freed, mined }: AppendedBlock): WaitingTransaction[] {
  const entries = publicEntries(pool.entries());
  if (freed === undefined) return entries;
  const keys = new Set(entries.map(({ key }) => key));
  const returned = [...freed].filter(([key]) => !keys.has(key)).map(([, it]) => waitingCandidate(it));
  return [...entries, ...returned]
    .filter(({ key }) => mined?.has(key) !== true)
    .sort((a, b) => compareTableOrder(a.id, b.id));
}
