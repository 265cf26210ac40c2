/** The state of an open wallet, as plain data. Every change to it goes through `applyChange` (apply-change.ts). */

import type { NoncePoints } from "@anulo/crypto";
import type { MultisigAccount } from "./multisig/key-exchange.ts";
import type { OutputBook } from "./outputs/output-book.ts";
import type { OwnedOutput } from "./outputs/owned-output.ts";
import type { RecentBlocks } from "./packed/block-ids.ts";
import type { Payments } from "./packed/payments.ts";
import type { Receipts } from "./packed/receipts.ts";
import type { TxKeys } from "./packed/tx-keys.ts";
import type { Intent, PoolPayment } from "./payment.ts";

export type {
  IncomingPayment,
  Intent,
  IntentHead,
  IntentOutcome,
  OutgoingPayment,
  OutgoingState,
  PaymentDestination,
  PoolPayment,
} from "./payment.ts";

export type NetworkName = "mainnet" | "stagenet" | "testnet" | "regtest";

/** What a multisig wallet stores beside its keys. */
export type MultisigPart = Pick<
  MultisigAccount,
  "threshold" | "signers" | "roundsComplete" | "shares" | "roundKeys"
>;

/**
 * The secrets of one wallet; every `Uint8Array` is 32 bytes. `spendSecret` is undefined in a view-only wallet, and this
 * signer's base secret in a multisig one.
 */
export type WalletKeys = {
  readonly spendPublic: Uint8Array;
  readonly viewPublic: Uint8Array;
  readonly viewSecret: Uint8Array;
  readonly spendSecret: Uint8Array | undefined;
  readonly multisig?: MultisigPart | undefined;
};

/** The part of the keys that finds payments and reads amounts. */
export type ViewKeys = Pick<WalletKeys, "spendPublic" | "viewPublic" | "viewSecret">;

/** The keys that spend alone. */
export type SpendKeys = ViewKeys & { readonly spendSecret: Uint8Array };

export type AddressLabel = { label: string };
/** One account; `addresses[i]` is the address with minor index i. */
export type Account = { tag: string; readonly addresses: AddressLabel[] };

export type AddressBookEntry = {
  address: string;
  description: string;
  /** 64 hex digits or empty. */
  paymentId: string;
};

/** Settings that the keys file contains as well. */
export type WalletSettings = {
  /** English name of the mnemonic's word list; empty when there is no mnemonic. */
  seedLanguage: string;
  /** First height worth scanning. */
  refreshFromHeight: number;
};

/** Data that one signer of a multisig wallet exported about one output; 32 bytes each. */
export type SignerInfo = {
  readonly signer: Uint8Array;
  /** Nonces as points; each may be used for one signature only. */
  readonly nonces: readonly NoncePoints[];
  /** One partial key image for each of the signer's shares. */
  readonly partialKeyImages: readonly Uint8Array[];
};

export type SinceCache = "nothing" | "chain" | "edits";

/** An output found by the scanner, without the properties that all outputs of its transaction share. */
export type ScannedOutput = Readonly<
  Pick<
    OwnedOutput,
    | "outputIndex"
    | "globalIndex"
    | "amount"
    | "mask"
    | "rct"
    | "oneTimeKey"
    | "txPublicKey"
    | "keyImage"
    | "subaddress"
  >
>;

/** A transaction that pays the wallet or spends from it, with the properties the wallet uses. */
export type ScannedTransaction = {
  readonly txHash: Uint8Array;
  readonly coinbase: boolean;
  readonly height: number;
  readonly timestamp: number;
  readonly unlockTime: bigint;
  /** Fee of a version 2 transaction; 0 for coinbase; undefined for version 1, where it follows from the inputs. */
  readonly fee: bigint | undefined;
  /** Sum of the public output amounts. */
  readonly publicAmountOut: bigint;
  readonly txSize: number;
  /** 32 bytes, decrypted; all zero if there is none. */
  readonly paymentId: Uint8Array;
  readonly received: readonly ScannedOutput[];
  /** Key images of all inputs, in order, with the public amount of each (0 for RingCT). */
  readonly inputs: readonly { readonly keyImage: Uint8Array; readonly amount: bigint }[];
};

/** What is scanned while the spend secret is not in memory; it is processed again once the secret is back. */
export type BackgroundScan = {
  /** From this height on no block was scanned with the spend secret. */
  fromHeight: number;
  /**
   * The transactions of these blocks that pay the wallet, spend from it, or have an output without key image in a ring;
   * in order.
   */
  readonly transactions: ScannedTransaction[];
  /** The settings when background scanning began. */
  readonly settings: ScanSettings;
};

/** Settings that decide what a scan finds. */
export type ScanSettings = {
  readonly refreshFromHeight: number;
  readonly accounts: number;
  readonly addresses: number;
  readonly skipsCoinbase: boolean;
};

export type WalletState = {
  readonly network: NetworkName;
  /** Number of changes ever applied: each has a number, starting at 1. */
  changeCount: number;
  /** 16 bytes that identify the wallet's changes in an event log; empty until they are logged. */
  eventSource: Uint8Array;
  /** Seconds since 1970 that are known to have passed, for items that are locked until a time. */
  passedSeconds: number;
  /** While blocks that were undone are scanned again: the height the wallet had reached; otherwise 0. */
  rescanTo: number;
  /** If they were undone since the chain has others: the height of the first of these; otherwise 0. */
  reorganisedFrom: number;
  /** Number of blocks scanned, which is the height of the next one. */
  height: number;
  /** Id of the next block if the wallet has its first transactions already; otherwise empty. */
  partId: Uint8Array;
  /** Ids of the newest scanned blocks; the last is that of `height - 1`. */
  readonly recent: RecentBlocks;
  readonly outputs: OutputBook;
  readonly incoming: Receipts;
  readonly pool: PoolPayment[];
  /** By hex transaction id; see OutgoingState. */
  readonly outgoing: Payments;
  /** In the order they were first recorded. */
  readonly intents: Intent[];
  /** By hex transaction id: the secret transaction key r (32 bytes), then the additional ones. */
  readonly txKeys: TxKeys;
  readonly accounts: Account[];
  /** Description by tag. */
  readonly accountTags: Map<string, string>;
  /** By hex transaction id. */
  readonly notes: Map<string, string>;
  readonly attributes: Map<string, string>;
  readonly addressBook: AddressBookEntry[];
  readonly settings: WalletSettings;
  /**
   * Key images that a view-only wallet has imported, by hex one-time key: outputs that are found again get them back.
   */
  readonly coldKeyImages: Map<string, Uint8Array>;
  /**
   * Index of the first output whose key image is requested: in a view-only wallet, of the first output without key
   * image (undefined: all); otherwise of the first that a view-only copy has requested (undefined: none).
   */
  requestedFrom: number | undefined;
  /**
   * Rings in which an output was used, by hex one-time key (global indices of all members), until its spend is final:
   * used in two different rings, the output would be their only common member. Of an output that was in no ring yet,
   * the candidates that a node was asked for.
   */
  readonly rings: Map<string, readonly number[]>;
  /** Multisig: unused secret nonces whose points the other signers have, by hex one-time key. */
  readonly multisigNonces: Map<string, readonly Uint8Array[]>;
  /** Multisig: the other signers' last exports, by hex one-time key. */
  readonly multisigInfos: Map<string, readonly SignerInfo[]>;
  /** Key images (hex) of frozen outputs that are not found yet, or that a reorganisation removed. */
  readonly frozenBefore: string[];
  /** Identifies the version of the original program's cache that was read or written last; empty if none was. */
  takenOverCache: string;
  /** What has changed since that cache was read or written here; `edits`: data that the chain does not contain. */
  sinceCache: SinceCache;
  /** Undefined while scans have the spend secret, and in a view-only wallet. */
  background: BackgroundScan | undefined;
  /** Reward of the newest scanned block, in atomic units. */
  lastBlockReward: bigint;
};
