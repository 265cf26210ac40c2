import type { ChainView } from "@anulo/consensus";
import { type Block, toHex } from "@anulo/protocol";
import type { AppendedBlock, AppendObserver } from "../chain/parts.ts";
import { type Backlog, publicEntries, type WaitingTransaction, waitingCandidate } from "../mining/backlog.ts";
import { type MinerData, minerDataOf } from "../mining/miner-data.ts";
import { compareTableOrder } from "../pool/table-order.ts";
import type { FullPoolNews } from "./pool-news.ts";

/** What was noted of a block when it was appended. */
export interface RecordedBlock {
  readonly block: Block;
  /** 32 bytes. */
  readonly id: Uint8Array;
  readonly height: number;
  /** Those of its transactions that nobody was told of while they waited. */
  readonly unannounced: readonly FullPoolNews[];
  /** What a miner needed after it; undefined where nobody wants to know. */
  readonly minerData: MinerData | undefined;
}

/** Takes notes of blocks until they are announced. */
export interface BlockRecorder {
  readonly observe: AppendObserver;
  /** The notes of a block by its id (32 bytes), once; undefined where none were wanted. */
  take(id: Uint8Array): RecordedBlock | undefined;
}

export interface RecorderOptions {
  readonly backlog: Backlog;
  /** Whether somebody wants to know of blocks, or of transactions. */
  isWanted(): boolean;
  /** Whether somebody wants miner data. */
  isMinerDataWanted(): boolean;
  /** What is to be told of those transactions of a block that were not announced. */
  unannounced(appended: AppendedBlock): readonly FullPoolNews[];
}

/** Blocks whose notes wait; those of writes that failed, or of many blocks more than one write holds, go. */
const MAX_NOTES = 5000;

/** Makes the recorder. */
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
      const found = notes.get(key);
      notes.delete(key);
      return found;
    },
  };
}

function minerDataAfter(backlog: Backlog, view: ChainView, appended: AppendedBlock): MinerData {
  return minerDataOf(view, backlog.choose(view, waitingAfter(appended)));
}

/** The pool after a block, also where those below are not taken from it, or those freed not put into it. */
function waitingAfter({ pool, freed, mined }: AppendedBlock): WaitingTransaction[] {
  const entries = publicEntries(pool.entries());
  if (freed === undefined) return entries;
  const known = new Set(entries.map(({ key }) => key));
  const returned = [...freed].filter(([key]) => !known.has(key)).map(([, it]) => waitingCandidate(it));
  return [...entries, ...returned]
    .filter(({ key }) => mined?.has(key) !== true)
    .sort((a, b) => compareTableOrder(a.id, b.id));
}
