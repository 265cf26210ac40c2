/** The state of an open wallet, as plain data. Every change to it goes through `applyChange` (apply-change.ts). */

import type { NoncePoints } from "@anulo/crypto";
import type { MultisigAccount } from "./multisig/key-exchange.ts";
import type { RefusalKind } from "./refusal.ts";

export type NetworkName = "mainnet" | "stagenet" | "testnet" | "regtest";

/** Account (major) and address (minor) numbers; 0/0 is the primary address. */
export type SubaddressIndex = { readonly major: number; readonly minor: number };

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

/** Stands for the unknown id of a transaction that spends an output and was not created here. */
export const SOMEBODY = "";

/** One output of the chain that belongs to the wallet. */
export type OwnedOutput = {
  /** Transaction id, 32 bytes. */
  readonly txHash: Uint8Array;
  /** Index among the outputs of its transaction. */
  readonly outputIndex: number;
  /** Index among all outputs of its amount (amount 0 for RingCT). */
  readonly globalIndex: bigint;
  /** Atomic units. */
  readonly amount: bigint;
  /** Mask of the commitment, 32 bytes; the scalar 1 where the amount is public. */
  readonly mask: Uint8Array;
  /** True if rings for it are built of RingCT outputs (version 2 coinbase included). */
  readonly rct: boolean;
  /** The output's public key, 32 bytes. */
  readonly oneTimeKey: Uint8Array;
  /** Transaction public key of the derivation (main or additional), 32 bytes. */
  readonly txPublicKey: Uint8Array;
  /** Key image, 32 bytes; undefined in a view-only wallet that has not imported it. */
  keyImage: Uint8Array | undefined;
  readonly subaddress: SubaddressIndex;
  /** Height of the containing block. */
  readonly height: number;
  /** Seconds since 1970, as in the block header. */
  readonly timestamp: number;
  readonly unlockTime: bigint;
  readonly coinbase: boolean;
  /** Size of the transaction blob in bytes; 0 when not known. */
  readonly txSize: number;
  /** Excluded from spending by the user. */
  frozen: boolean;
  /** Height of the block that spends it; undefined while it is not spent in a block. */
  spentHeight: number | undefined;
  /**
   * Hex id of our own unconfirmed transaction that spends it; `SOMEBODY` if a pool transaction not created here does.
   */
  pendingSpend: string | undefined;
  /** A smaller output with the same one-time key, of which only one can ever be spent ("burning bug"). */
  readonly replaces: OwnedOutput | undefined;
};

/** Amount received by one subaddress in one transaction, change excluded. */
export type IncomingPayment = {
  readonly txHash: Uint8Array;
  /** 32 bytes; a short payment id fills the first 8. All zero if there is none. */
  readonly paymentId: Uint8Array;
  readonly amount: bigint;
  /** Amounts of the single outputs, atomic units. */
  readonly amounts: readonly bigint[];
  readonly fee: bigint;
  /** Height of the containing block; 0 in the pool. */
  readonly height: number;
  readonly timestamp: number;
  readonly unlockTime: bigint;
  readonly coinbase: boolean;
  readonly subaddress: SubaddressIndex;
};

/** A payment that waits in the pool of the node. */
export type PoolPayment = IncomingPayment & { readonly doubleSpendSeen: boolean };

/** `address` is the text the caller sent (it may be an integrated address). */
export type PaymentDestination = { readonly address: string; readonly amount: bigint };

/**
 * `signed`: stored, maybe not sent yet · `pending`: sent to the node · `missing`: no longer in the node's pool ·
 * `failed`: given up, its inputs are free again · `confirmed`: in a block · `forgotten`: still unconfirmed when a
 * rescan was requested; it is not shown until it is seen in the pool again, but it reserves its inputs.
 */
export type OutgoingState = "signed" | "pending" | "missing" | "failed" | "confirmed" | "forgotten";

/** A transaction that spends outputs of this wallet, created here or seen in the chain. */
export type OutgoingPayment = {
  readonly txHash: Uint8Array;
  state: OutgoingState;
  /**
   * The whole transaction as sent, to send it again; undefined if it was not created here or is deep enough in the
   * chain.
   */
  blob: Uint8Array | undefined;
  readonly amountIn: bigint;
  /** Sum of all outputs, change included: `amountIn - fee`. */
  readonly amountOut: bigint;
  readonly change: bigint;
  readonly destinations: readonly PaymentDestination[];
  /** 32 bytes, as in IncomingPayment. */
  readonly paymentId: Uint8Array;
  /** Account that paid, and those of its addresses whose outputs were spent. */
  readonly account: number;
  readonly subaddressIndices: readonly number[];
  /** Key images of all inputs, 32 bytes each. */
  readonly keyImages: readonly Uint8Array[];
  readonly unlockTime: bigint;
  /** When it was created (seconds since 1970). */
  readonly createdAt: number;
  /** Block time once confirmed, else `createdAt`. */
  timestamp: number;
  /** Height of the containing block; 0 while unconfirmed. */
  height: number;
  /** True if it was in a block that a reorganisation has undone, and has been in none since. */
  isUndone?: boolean;
  /** True if it was created here and has been in the node's pool. */
  isSeen?: boolean;
};

/** A call that spends, identified by its caller's key. */
export type IntentHead = {
  /** The caller's key; generated here if the caller sent none. */
  readonly key: string;
  /**
   * SHA-256 of the call's name and params, 32 bytes; empty if the caller sent no key, so that no call can repeat it.
   */
  readonly asked: Uint8Array;
  /** The call's name. */
  readonly method: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
};

/**
 * The outcome of the call. `sending`: signed and stored, and sent again until it is final · `handedOut`: returned to
 * the caller, to sign or to send it · `refused`: the node rejected it, and this wallet never sends it again.
 * `txHashes`: ids (32 bytes) of what is signed, or, of a refused call, of transactions that may reach the network all
 * the same. `answer`: the compressed response, if the caller sent a key.
 */
export type IntentOutcome =
  | {
      readonly kind: "sending" | "handedOut";
      readonly txHashes: readonly Uint8Array[];
      readonly answer: Uint8Array | undefined;
    }
  | {
      readonly kind: "refused";
      readonly txHashes: readonly Uint8Array[];
      readonly refusal: RefusalKind;
      readonly message: string;
    };

/** `outcome` is undefined until the transactions are signed. */
export type Intent = IntentHead & { outcome: IntentOutcome | undefined };

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
  /** Number of blocks scanned, which is the height of the next one. */
  height: number;
  readonly recent: RecentBlocks;
  readonly outputs: OwnedOutput[];
  readonly incoming: IncomingPayment[];
  readonly pool: PoolPayment[];
  /** By hex transaction id; see OutgoingState. */
  readonly outgoing: Map<string, OutgoingPayment>;
  /** In the order they were first recorded. */
  readonly intents: Intent[];
  /** By hex transaction id: the secret transaction key r (32 bytes), then the additional ones. */
  readonly txKeys: Map<string, readonly Uint8Array[]>;
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
   * used in two different rings, the output would be their only common member.
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

/** Ids of the newest scanned blocks: `ids[i]` (32 bytes) has height `offset + i`; the last is `height - 1`. */
export type RecentBlocks = { offset: number; ids: Uint8Array[] };
