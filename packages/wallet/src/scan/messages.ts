/** What the wallet and its scan worker tell each other; all of it survives structured cloning. */
import type { WalletChange } from "../changes.ts";
import type { DaemonAddress } from "../daemon.ts";
import type { RefusalKind } from "../refusal.ts";
import type { NetworkName, ScannedTransaction, SubaddressIndex } from "../state.ts";
import type { PackedTransactions, RawTransaction } from "./raw-transaction.ts";
import type { ScanKeys } from "./scan-transaction.ts";
import type { Sifted } from "./sift.ts";
import type { KeyRange, Lookahead } from "./subaddress-table.ts";
import type { WatchedOutputs } from "./watched-outputs.ts";

export type BlocksChange = Extract<WalletChange, { kind: "blocks" }>;

/** An unconfirmed transaction that was made here: its id (hex), and the whole of it. */
export type OwnTransaction = { readonly id: string; readonly blob: Uint8Array };

/** One scan, from a point both sides know to the newest block of the node, then the pool. */
export type ScanTask = {
  readonly daemon: DaemonAddress;
  readonly network: NetworkName;
  /** Ids (32 bytes) of known blocks, newest first and ever sparser, the genesis block last. */
  readonly history: readonly Uint8Array[];
  /** Of the next block, as far as the wallet knows. */
  readonly height: number;
  /** Height to begin at when nothing but the genesis block is known; 0 to go by `history`. */
  readonly startHeight: number;
  /** Transactions of lower blocks are not looked at. */
  readonly fromHeight: number;
  readonly own: readonly OwnTransaction[];
};

/** A pool transaction that concerns the wallet. */
export type PoolFind = { readonly transaction: ScannedTransaction; readonly doubleSpendSeen: boolean };

/**
 * The node's pool: ids of everything in it (32 bytes each, end to end, in memory that all who looked share), and what
 * of it concerns the wallet.
 */
export type PoolSnapshot = { readonly ids: Uint8Array; readonly found: readonly PoolFind[] };

/** A transaction of the chain, as a node gives it alone. */
export type SingleTransaction = Omit<RawTransaction, "read" | "coinbase">;

export type ToWorker =
  /** `used`: the last address in use of every account. Sent once, first. */
  | {
      readonly kind: "open";
      readonly keys: ScanKeys;
      readonly used: readonly SubaddressIndex[];
      readonly lookahead: Lookahead;
      readonly skipsCoinbase: boolean;
      readonly keyImages: readonly Uint8Array[];
      /** While the spend secret is away: outputs without key image. The pool is left alone then. */
      readonly watched?: WatchedOutputs | undefined;
    }
  /** Key images (32 bytes) learnt otherwise than by scanning. */
  | { readonly kind: "learn"; readonly keyImages: readonly Uint8Array[] }
  /** `lookahead`: how far beyond it, from now on for all. */
  | {
      readonly kind: "cover";
      readonly id: number;
      readonly index: SubaddressIndex;
      readonly lookahead?: Lookahead;
    }
  /** `threads`: how many may sift for it. */
  | { readonly kind: "scan"; readonly id: number; readonly task: ScanTask; readonly threads: number }
  | { readonly kind: "single"; readonly id: number; readonly entries: readonly SingleTransaction[] }
  | {
      readonly kind: "pool";
      readonly id: number;
      readonly daemon: DaemonAddress;
      readonly network: NetworkName;
      readonly own: readonly OwnTransaction[];
    }
  /** The wallet is closed: forget it. The thread may serve another. */
  | { readonly kind: "close" }
  /** Undefined where the thread failed. */
  | { readonly kind: "sifted"; readonly id: number; readonly sifted: readonly Sifted[] | undefined }
  /** One batch of `scan` has been kept. */
  | { readonly kind: "kept" }
  | { readonly kind: "cancel" };

export type FromWorker =
  /** The table grew. */
  | { readonly kind: "range"; readonly range: KeyRange }
  /** To be sifted in another thread, for each view secret (32 bytes each, end to end). */
  | {
      readonly kind: "sift";
      readonly id: number;
      readonly transactions: PackedTransactions;
      readonly viewSecrets: Uint8Array<ArrayBuffer>;
    }
  /** What a run of blocks changes, as the journal writes it: handed over rather than copied. */
  | { readonly kind: "blocks"; readonly change: Uint8Array; readonly targetHeight: number }
  /** `open`, `cover`, `scan`, `single` or `pool` is finished; `single` finds as `pool` does. */
  | { readonly kind: "done"; readonly id: number; readonly pool: PoolSnapshot | undefined }
  | {
      readonly kind: "failed";
      readonly id: number;
      readonly refusal: RefusalKind | undefined;
      readonly message: string;
    };
