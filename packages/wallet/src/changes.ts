/**
 * Every change of a wallet's state, as a value. The store on disk is the list of these values, so what
 * `applyChange` does now it does again when the wallet is opened: it must depend on nothing but its arguments.
 */
import type {
  AddressBookEntry,
  IntentHead,
  IntentOutcome,
  OutgoingPayment,
  OutgoingState,
  OwnedOutput,
  PoolPayment,
  ScannedTransaction,
  ScanSettings,
  SignerInfo,
  SinceCache,
  SubaddressIndex,
  WalletSettings,
  WalletState,
} from "./state.ts";

/** What spends an output, as the node says. */
export type SpentStatus = "unspent" | "chain" | "pool";

/** A part of what only the original program's cache holds. Ids, key images and keys in hex. */
export type TakenOver = {
  /** Which writing of the cache this was, with the last part of it. */
  readonly cacheId?: string;
  /** What is not in that cache, where it was written here: all else is. */
  readonly since?: SinceCache;
  /** The original went on from what was written here, and nothing was edited here since: what it says replaces ours. */
  readonly isNewer?: boolean;
  readonly payments?: readonly OutgoingPayment[];
  readonly txKeys?: readonly (readonly [string, readonly Uint8Array[]])[];
  readonly notes?: readonly (readonly [string, string])[];
  readonly attributes?: readonly (readonly [string, string])[];
  readonly addressBook?: readonly AddressBookEntry[];
  /** By account, then by address. */
  readonly labels?: readonly (readonly string[])[];
  /** By account. */
  readonly tags?: readonly string[];
  readonly tagDescriptions?: readonly (readonly [string, string])[];
  /** Key images of outputs that are not to be spent, and (of a newer cache) of those that are. */
  readonly frozen?: readonly string[];
  readonly thawed?: readonly string[];
  /** Key images by one-time key. */
  readonly keyImages?: readonly (readonly [string, Uint8Array])[];
};

/** A transaction to be sent, and its secret keys. */
export type KeptPayment = { readonly payment: OutgoingPayment; readonly txKeys: readonly Uint8Array[] };

export type WalletChange =
  /** `count` blocks from `fromHeight` on; whatever was known from that height on is undone first. */
  | {
      readonly kind: "blocks";
      readonly fromHeight: number;
      readonly count: number;
      /** Ids of the last of these blocks; older ones than needed to find a fork are left out. */
      readonly ids: readonly Uint8Array[];
      readonly lastBlockReward: bigint;
      readonly transactions: readonly ScannedTransaction[];
    }
  /** Transactions of the chain looked at one by one, lowest first. */
  | { readonly kind: "transactions"; readonly transactions: readonly ScannedTransaction[] }
  /** Forget what came from the chain, to scan again; `hard` forgets transaction keys, and notes unless they are kept, as well. */
  | { readonly kind: "reset"; readonly hard: boolean; readonly keepsNotes?: boolean }
  | { readonly kind: "outgoing"; readonly payment: OutgoingPayment; readonly txKeys: readonly Uint8Array[] }
  | {
      readonly kind: "outgoingState";
      readonly txHash: string;
      readonly state: OutgoingState;
      readonly isSeen?: boolean;
    }
  /**
   * How far a call that spends has come: without outcome, as it is about to sign; then with what it signed, which is
   * kept in the same step; or refused, which takes back what was never sent (ids in hex).
   */
  | {
      readonly kind: "intent";
      readonly intent: IntentHead;
      readonly outcome?: IntentOutcome;
      readonly payments?: readonly KeptPayment[];
      readonly unsent?: readonly string[];
    }
  /** Secret keys of a transaction signed here for somebody else to send. */
  | { readonly kind: "txKeys"; readonly txHash: string; readonly txKeys: readonly Uint8Array[] }
  /** The node refused it: it never existed. */
  | { readonly kind: "discardOutgoing"; readonly txHash: string }
  /** What waits in the pool for this wallet. `isScanned`: the blocks were scanned up to the newest before. */
  | { readonly kind: "pool"; readonly payments: readonly PoolPayment[]; readonly isScanned?: boolean }
  | { readonly kind: "newAccount"; readonly label: string }
  /** So many addresses of one label; left out: one. */
  | { readonly kind: "newAddress"; readonly account: number; readonly label: string; readonly count?: number }
  | { readonly kind: "label"; readonly index: SubaddressIndex; readonly label: string }
  | { readonly kind: "tag"; readonly accounts: readonly number[]; readonly tag: string }
  | { readonly kind: "tagDescription"; readonly tag: string; readonly description: string }
  | { readonly kind: "note"; readonly txHash: string; readonly note: string }
  | { readonly kind: "attribute"; readonly key: string; readonly value: string }
  | { readonly kind: "frozen"; readonly keyImage: string; readonly frozen: boolean }
  | { readonly kind: "addressBook"; readonly entries: readonly AddressBookEntry[] }
  /**
   * What a view-only copy of this wallet found; the first is the output at `offset` of its list of `total`. Left out:
   * these are the last.
   */
  | {
      readonly kind: "importedOutputs";
      readonly offset: number;
      readonly total?: number;
      readonly outputs: readonly OwnedOutput[];
    }
  /** Key images of the outputs from `offset` on, what spends them (where it is known), and our transactions that do. */
  | {
      readonly kind: "keyImages";
      readonly offset: number;
      readonly keyImages: readonly Uint8Array[];
      readonly spent: readonly SpentStatus[];
      readonly transactions: readonly ScannedTransaction[];
    }
  /** What spends the outputs with these key images (hex), as the node says. */
  | { readonly kind: "spent"; readonly status: readonly (readonly [string, SpentStatus])[] }
  /** Key images of outputs that will be found, from the wallet that signed. */
  | {
      readonly kind: "coldKeyImages";
      readonly images: readonly { readonly oneTimeKey: Uint8Array; readonly keyImage: Uint8Array }[];
    }
  /** Secret nonces of outputs, by hex one-time key; they replace those they had, an empty list deletes them. */
  | {
      readonly kind: "multisigNonces";
      readonly nonces: readonly (readonly [string, readonly Uint8Array[]])[];
    }
  /** What the other signers exported about outputs, by hex one-time key; replaces what they exported before. */
  | { readonly kind: "multisigInfos"; readonly infos: readonly (readonly [string, readonly SignerInfo[]])[] }
  /** Rings outputs were shown in, by hex one-time key: the global indices of all members. */
  | { readonly kind: "rings"; readonly rings: readonly (readonly [string, readonly number[]])[] }
  /** What stood only in the original program's cache of this wallet; what is known already stays as it is. */
  | ({ readonly kind: "takenOver" } & TakenOver)
  | { readonly kind: "settings"; readonly settings: WalletSettings }
  /** From here on the changes count for an event log under this name, 16 bytes. */
  | { readonly kind: "eventSource"; readonly source: Uint8Array }
  /** So many seconds since 1970 have passed. */
  | { readonly kind: "time"; readonly seconds: number }
  /** From now on the spend secret is away. */
  | { readonly kind: "backgroundBegins"; readonly settings: ScanSettings }
  /** It is back: what was scanned without it is undone, and what was found follows as blocks. */
  | { readonly kind: "backgroundEnds" };

/** A change that undoes every block from a height on, and brings none. */
export function undoneFrom(
  fromHeight: number,
  { lastBlockReward }: Pick<WalletState, "lastBlockReward">,
): WalletChange {
  return { kind: "blocks", fromHeight, count: 0, ids: [], lastBlockReward, transactions: [] };
}

type Locked = { readonly unlockTime: bigint };

/** All of a wallet's state that has an unlock time. */
export function itemsOfState({ outputs, incoming, pool, outgoing }: Readonly<WalletState>): Locked[] {
  return [...outputs, ...incoming, ...pool, ...outgoing.values()];
}

/** What a change brings that has an unlock time. */
export function itemsOfChange(change: WalletChange): readonly Locked[] {
  if (change.kind === "blocks" || change.kind === "transactions" || change.kind === "keyImages")
    return change.transactions;
  if (change.kind === "pool") return change.payments;
  if (change.kind === "outgoing") return [change.payment];
  if (change.kind === "intent") return (change.payments ?? []).map(({ payment }) => payment);
  return change.kind === "importedOutputs" ? change.outputs : [];
}
