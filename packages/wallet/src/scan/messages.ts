/** The messages between a wallet and its scan worker; all of them survive structured cloning. */
import type { BlocksChange } from "../changes.ts";
import type { DaemonAddress } from "../daemon.ts";
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import type { RefusalKind } from "../refusal.ts";
import type { NetworkName, ScannedTransaction } from "../state.ts";
import type { SharedMarks } from "./address-marks.ts";
import type { AddressRange, Lookahead } from "./address-runs.ts";
import type { PackedTransactions, RawTransaction } from "./raw-transaction.ts";
import type { ScanKeys } from "./scan-transaction.ts";
import type { Sifted } from "./sift.ts";
import type { WatchedOutputs } from "./watched-outputs.ts";

export type { BlocksChange };

/** An unconfirmed transaction that was created here: its id (hex) and its whole blob. */
export type OwnTransaction = { readonly id: string; readonly blob: Uint8Array };

/** One scan, from a block that both sides know to the newest block of the node, then of the pool. */
export type ScanTask = {
  readonly daemon: DaemonAddress;
  readonly network: NetworkName;
  /** Ids (32 bytes) of known blocks, newest first, ever farther apart, the genesis block last. */
  readonly history: readonly Uint8Array[];
  /** Height of the next block, as far as the wallet knows. */
  readonly height: number;
  /** First height to scan if only the genesis block is known; 0 to start from `history`. */
  readonly startHeight: number;
  /** Transactions of blocks below this height are not scanned. */
  readonly fromHeight: number;
  readonly own: readonly OwnTransaction[];
};

/** A pool transaction that concerns the wallet. */
export type PoolFind = { readonly transaction: ScannedTransaction; readonly doubleSpendSeen: boolean };

/**
 * The node's pool: ids of all its transactions (32 bytes each, concatenated, in memory shared by all wallets of the
 * scan), and those that concern the wallet.
 */
export type PoolSnapshot = { readonly ids: Uint8Array; readonly finds: readonly PoolFind[] };

/** A transaction of the chain, as a node returns it by itself. */
export type SingleTransaction = Omit<RawTransaction, "read" | "coinbase">;

export type ToWorker =
  /** `used`: the last address in use of every account. Sent once, as the first message. */
  | {
      readonly kind: "open";
      readonly keys: ScanKeys;
      readonly used: readonly SubaddressIndex[];
      readonly lookahead: Lookahead;
      /** Memory for the marks of its addresses; undefined if it has a table of whole keys. */
      readonly marks: SharedMarks | undefined;
      /** The addresses whose marks are there already, in their order. */
      readonly ranges: readonly AddressRange[];
      readonly skipsCoinbase: boolean;
      /** What the hashes of key images are made with. */
      readonly imageFactors: Uint8Array;
      /** While the spend secret is not in memory: outputs without key image. The pool is not scanned then. */
      readonly watched?: WatchedOutputs | undefined;
    }
  /** Key images (32 bytes) that were not found by scanning, and both hashes of each of some others. */
  | {
      readonly kind: "learn";
      readonly keyImages: readonly Uint8Array[];
      readonly hashes: readonly Uint32Array[];
    }
  /** `lookahead`: how far beyond it; applies to all accounts from now on. */
  | {
      readonly kind: "cover";
      readonly id: number;
      readonly index: SubaddressIndex;
      readonly lookahead?: Lookahead;
    }
  /** `threads`: number of threads that may sift for it. */
  | { readonly kind: "scan"; readonly id: number; readonly task: ScanTask; readonly threads: number }
  | { readonly kind: "single"; readonly id: number; readonly entries: readonly SingleTransaction[] }
  | {
      readonly kind: "pool";
      readonly id: number;
      readonly daemon: DaemonAddress;
      readonly network: NetworkName;
      readonly own: readonly OwnTransaction[];
    }
  /** The wallet is closed: the worker forgets it. The thread may serve other wallets. */
  | { readonly kind: "close" }
  /** `sifted` is undefined if the thread failed. */
  | { readonly kind: "sifted"; readonly id: number; readonly results: readonly Sifted[] | undefined }
  /** One batch of `scan` has been stored. */
  | { readonly kind: "kept" }
  | { readonly kind: "cancel" };

export type FromWorker =
  /**
   * Addresses were added. `added`: their spend keys (32 bytes each), or, if they are marks in memory that has been
   * replaced, the new memory; undefined if the memory is the same.
   */
  | {
      readonly kind: "range";
      readonly range: AddressRange;
      readonly added: Uint8Array | SharedMarks | undefined;
    }
  /** Transactions to be sifted in another thread, for each view secret (32 bytes each, concatenated). */
  | {
      readonly kind: "sift";
      readonly id: number;
      readonly transactions: PackedTransactions;
      readonly viewSecrets: Uint8Array<ArrayBuffer>;
    }
  /** The change of a run of blocks, as the journal writes it: transferred rather than copied. */
  | { readonly kind: "blocks"; readonly change: Uint8Array; readonly targetHeight: number }
  /** `open`, `cover`, `scan`, `single` or `pool` has finished; `single` returns its finds in the form of `pool`. */
  | { readonly kind: "done"; readonly id: number; readonly pool: PoolSnapshot | undefined }
  /** The wallet's secrets are forgotten. */
  | { readonly kind: "closed" }
  | {
      readonly kind: "failed";
      readonly id: number;
      readonly refusal: RefusalKind | undefined;
      readonly message: string;
    };
