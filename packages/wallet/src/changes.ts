/**
 * Every change of a wallet's state, as a value. The store on disk is the list of these values: `applyChange` runs on
 * them again when the wallet is opened, so it must depend on nothing but its arguments.
 */

import { equalBytes } from "@anulo/protocol";
import { waitsForTime } from "./outputs/locked-places.ts";
import type { OwnedOutput, SubaddressIndex } from "./outputs/owned-output.ts";
import type {
  AddressBookEntry,
  IntentHead,
  IntentOutcome,
  OutgoingPayment,
  OutgoingState,
  PoolPayment,
  ScannedTransaction,
  ScanSettings,
  SignerInfo,
  SinceCache,
  WalletSettings,
  WalletState,
} from "./state.ts";

/** Where an output is spent, as the node reports it. */
export type SpentStatus = "unspent" | "chain" | "pool";

/** A part of the data that only the original program's cache contains. Ids, key images and keys are hexadecimal. */
export type TakenOver = {
  /** Identifies the version of the cache that was read; sent with its last part. */
  readonly cacheId?: string;
  /** What has changed since this service wrote the cache; left out if the original program wrote it. */
  readonly since?: SinceCache;
  /**
   * True if the original program continued from a cache written here, and nothing was edited here since: its data
   * replaces the wallet's.
   */
  readonly isNewer?: boolean;
  readonly payments?: readonly OutgoingPayment[];
  readonly txKeys?: readonly (readonly [string, readonly Uint8Array[]])[];
  readonly notes?: readonly (readonly [string, string])[];
  readonly attributes?: readonly (readonly [string, string])[];
  readonly addressBook?: readonly AddressBookEntry[];
  /** Labels by account, then by address. */
  readonly labels?: readonly (readonly string[])[];
  /** Tags by account. */
  readonly tags?: readonly string[];
  readonly tagDescriptions?: readonly (readonly [string, string])[];
  /** Key images of frozen outputs, and (of a newer cache) of outputs that are not frozen. */
  readonly frozen?: readonly string[];
  readonly thawed?: readonly string[];
  /** Key images by one-time key. */
  readonly keyImages?: readonly (readonly [string, Uint8Array])[];
};

/** A transaction to be sent, and its secret keys. */
export type KeptPayment = { readonly payment: OutgoingPayment; readonly txKeys: readonly Uint8Array[] };

export type WalletChange =
  /** Appends `count` blocks from `fromHeight` on; blocks known from that height on are undone first. */
  | {
      readonly kind: "blocks";
      readonly fromHeight: number;
      readonly count: number;
      /** Ids of the newest of these blocks; those too old to be needed to find a fork are left out. */
      readonly ids: readonly Uint8Array[];
      readonly lastBlockReward: bigint;
      readonly transactions: readonly ScannedTransaction[];
      /** With a `count` of 0: the chain has others in place of the blocks that are undone, which follow. */
      readonly isReorganised?: boolean;
      /**
       * Ids of transactions in blocks from `fromHeight` on: only they are undone. What remains of the newest block, if
       * it is among these, is part of one (`partId`) that nothing completes: it is undone before anything else follows.
       */
      readonly undone?: readonly Uint8Array[];
      /** Id of the block after these, if its first transactions are among these and the others follow. */
      readonly partId?: Uint8Array;
      /** Id of the block at `fromHeight`, if the change before has had its first transactions. */
      readonly restOfId?: Uint8Array;
    }
  /** Transactions of the chain that were scanned one by one, lowest height first. */
  | { readonly kind: "transactions"; readonly transactions: readonly ScannedTransaction[] }
  /**
   * Deletes what came from the chain, to scan it again; `hard` also deletes transaction keys and, unless `keepsNotes`,
   * notes.
   */
  | { readonly kind: "reset"; readonly hard: boolean; readonly keepsNotes?: boolean }
  | { readonly kind: "outgoing"; readonly payment: OutgoingPayment; readonly txKeys: readonly Uint8Array[] }
  | {
      readonly kind: "outgoingState";
      readonly txHash: string;
      readonly state: OutgoingState;
      readonly isSeen?: boolean;
    }
  /**
   * How far a call that spends has come: without outcome, it is about to sign; with one, it has signed `payments`,
   * which are stored in the same change, or it was refused, which deletes the transactions that were never sent (ids in
   * hex).
   */
  | {
      readonly kind: "intent";
      readonly intent: IntentHead;
      readonly outcome?: IntentOutcome;
      readonly payments?: readonly KeptPayment[];
      readonly unsent?: readonly string[];
    }
  /** Secret keys of a transaction that was signed here and that another program will send. */
  | { readonly kind: "txKeys"; readonly txHash: string; readonly txKeys: readonly Uint8Array[] }
  /** The node rejected the transaction: it is deleted as if it had never existed. */
  | { readonly kind: "discardOutgoing"; readonly txHash: string }
  /** Payments to this wallet that wait in the pool. `isScanned`: all blocks up to the newest were scanned before. */
  | { readonly kind: "pool"; readonly payments: readonly PoolPayment[]; readonly isScanned?: boolean }
  | { readonly kind: "newAccount"; readonly label: string }
  /** Adds `count` addresses with one label; one if `count` is left out. */
  | { readonly kind: "newAddress"; readonly account: number; readonly label: string; readonly count?: number }
  | { readonly kind: "label"; readonly index: SubaddressIndex; readonly label: string }
  | { readonly kind: "tag"; readonly accounts: readonly number[]; readonly tag: string }
  | { readonly kind: "tagDescription"; readonly tag: string; readonly description: string }
  | { readonly kind: "note"; readonly txHash: string; readonly note: string }
  | { readonly kind: "attribute"; readonly key: string; readonly value: string }
  | { readonly kind: "frozen"; readonly keyImage: string; readonly frozen: boolean }
  | { readonly kind: "addressBook"; readonly entries: readonly AddressBookEntry[] }
  /**
   * Outputs that a view-only copy of this wallet found; the first is the output at `offset` of its list of `total`. If
   * `total` is left out, these are the last.
   */
  | {
      readonly kind: "importedOutputs";
      readonly offset: number;
      readonly total?: number;
      readonly outputs: readonly OwnedOutput[];
    }
  /**
   * Key images of the outputs from `offset` on, where they are spent (if known), and our transactions that spend them.
   */
  | {
      readonly kind: "keyImages";
      readonly offset: number;
      readonly keyImages: readonly Uint8Array[];
      readonly spent: readonly SpentStatus[];
      readonly transactions: readonly ScannedTransaction[];
    }
  /** Where the outputs with these key images (hex) are spent, as the node reports it. */
  | { readonly kind: "spent"; readonly status: readonly (readonly [string, SpentStatus])[] }
  /** Key images of outputs that the scan has not found yet, from the wallet that signed. */
  | {
      readonly kind: "coldKeyImages";
      readonly images: readonly { readonly oneTimeKey: Uint8Array; readonly keyImage: Uint8Array }[];
    }
  /** Secret nonces of outputs, by hex one-time key; they replace the stored ones, and an empty list deletes them. */
  | {
      readonly kind: "multisigNonces";
      readonly nonces: readonly (readonly [string, readonly Uint8Array[]])[];
    }
  /** Data the other signers exported about outputs, by hex one-time key; it replaces their earlier exports. */
  | { readonly kind: "multisigInfos"; readonly infos: readonly (readonly [string, readonly SignerInfo[]])[] }
  /** Rings in which outputs were used, by hex one-time key: the global indices of all members. */
  | { readonly kind: "rings"; readonly rings: readonly (readonly [string, readonly number[]])[] }
  /**
   * Data that only the original program's cache of this wallet contained; values the wallet already has are not
   * replaced.
   */
  | ({ readonly kind: "takenOver" } & TakenOver)
  | { readonly kind: "settings"; readonly settings: WalletSettings }
  /** Changes from here on are counted for the event log with this id, 16 bytes. */
  | { readonly kind: "eventSource"; readonly source: Uint8Array }
  /** This number of seconds since 1970 is known to have passed. */
  | { readonly kind: "time"; readonly seconds: number }
  /** From now on the spend secret is not in memory. */
  | { readonly kind: "backgroundBegins"; readonly settings: ScanSettings }
  /** The spend secret is in memory again: what was scanned without it is undone, and the result follows as blocks. */
  | { readonly kind: "backgroundEnds" };

export type BlocksChange = Extract<WalletChange, { kind: "blocks" }>;

/** Returns a change that undoes every block from a height on and appends none. */
export function undoneFrom(
  fromHeight: number,
  { lastBlockReward }: Pick<WalletState, "lastBlockReward">,
): BlocksChange {
  return { kind: "blocks", fromHeight, count: 0, ids: [], lastBlockReward, transactions: [] };
}

/** No block has this id. */
const NO_BLOCK_ID = new Uint8Array(32);

/** Returns a change that undoes some transactions (ids) of the newest block, which is at `height`. */
export function undonePart(
  height: number,
  undone: readonly Uint8Array[],
  state: Pick<WalletState, "lastBlockReward">,
): BlocksChange {
  return { ...undoneFrom(height, state), undone, partId: NO_BLOCK_ID };
}

/** Returns a change that undoes transactions (ids) that were found ahead of the blocks, and are not in theirs. */
export function withoutMissing(
  undone: readonly Uint8Array[],
  state: Pick<WalletState, "lastBlockReward" | "height" | "partId">,
): BlocksChange {
  const { height, partId } = state;
  const change = { ...undoneFrom(height, state), undone, isReorganised: true };
  return partId.length > 0 ? { ...change, partId } : change;
}

/** Whether a change undoes blocks because the chain has others, if it undoes any; otherwise the same are scanned again. */
export function isReorganisation({ count, transactions, isReorganised = false }: BlocksChange): boolean {
  return count > 0 || transactions.length > 0 || isReorganised;
}

/** Whether a change brings the rest of the block of which the wallet has the first transactions. */
export function isRestOfBlock(
  { fromHeight, restOfId }: BlocksChange,
  { height, partId }: Pick<WalletState, "height" | "partId">,
): boolean {
  return restOfId !== undefined && fromHeight === height && equalBytes(restOfId, partId);
}

/** Height from which on the change undoes all that the wallet has; Infinity if it undoes nothing, or part of a block. */
export function undoneBy(change: BlocksChange, state: Pick<WalletState, "height" | "partId">): number {
  if (change.undone !== undefined) return Number.POSITIVE_INFINITY;
  if (change.fromHeight < state.height) return change.fromHeight;
  // A block in part is undone before anything else than its rest follows: it may be in the chain no more.
  return state.partId.length === 0 || isRestOfBlock(change, state) ? Number.POSITIVE_INFINITY : state.height;
}

type Locked = { readonly unlockTime: bigint };

/** Whether some item of a wallet's state may be locked until a time rather than a height. */
export function mayWaitForTime({ outputs, incoming, pool, outgoing }: Readonly<WalletState>): boolean {
  const latest = BigInt(Math.max(incoming.latestUnlock, outgoing.latestUnlock));
  return outputs.timed > 0 || waitsForTime({ unlockTime: latest }) || pool.some(waitsForTime);
}

/** All items of a change that have an unlock time. */
export function itemsOfChange(change: WalletChange): readonly Locked[] {
  if (change.kind === "blocks" || change.kind === "transactions" || change.kind === "keyImages")
    return change.transactions;
  if (change.kind === "pool") return change.payments;
  if (change.kind === "outgoing") return [change.payment];
  if (change.kind === "intent") return (change.payments ?? []).map(({ payment }) => payment);
  return change.kind === "importedOutputs" ? change.outputs : [];
}
