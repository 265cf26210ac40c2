/** What an open wallet knows, as plain data. Every change to it goes through `applyChange` (apply-change.ts). */

import type { NoncePoints } from "@anulo/crypto";
import type { MultisigAccount } from "./multisig/key-exchange.ts";
import type { RefusalKind } from "./refusal.ts";

export type NetworkName = "mainnet" | "stagenet" | "testnet" | "regtest";

/** Account (major) and address (minor) numbers; 0/0 is the primary address. */
export type SubaddressIndex = { readonly major: number; readonly minor: number };

/** What a wallet that several signers share knows beside its keys. */
export type MultisigPart = Pick<
  MultisigAccount,
  "threshold" | "signers" | "roundsComplete" | "shares" | "roundKeys"
>;

/**
 * The secrets of one wallet; every field of bytes is 32 bytes. `spendSecret` is undefined in a view-only wallet, and
 * this signer's base secret in a multisig one.
 */
export type WalletKeys = {
  readonly spendPublic: Uint8Array;
  readonly viewPublic: Uint8Array;
  readonly viewSecret: Uint8Array;
  readonly spendSecret: Uint8Array | undefined;
  readonly multisig?: MultisigPart | undefined;
};

/** Stands for a transaction that spends an output and whose id isn't known. */
export const SOMEBODY = "";

/** One output of the chain that belongs to the wallet. */
export type OwnedOutput = {
  /** Transaction id, 32 bytes. */
  readonly txHash: Uint8Array;
  /** Place among the outputs of its transaction. */
  readonly outputIndex: number;
  /** Place among all outputs of its amount (amount 0 for RingCT). */
  readonly globalIndex: bigint;
  /** Atomic units. */
  readonly amount: bigint;
  /** Mask of the commitment, 32 bytes; the scalar 1 where the amount is public. */
  readonly mask: Uint8Array;
  /** True where the ring is taken from RingCT outputs (version 2 coinbase included). */
  readonly rct: boolean;
  /** The key in the output, 32 bytes. */
  readonly oneTimeKey: Uint8Array;
  /** Transaction public key that made the derivation (main or additional), 32 bytes. */
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
  /** Height of the block that spends it; undefined while no block does. */
  spentHeight: number | undefined;
  /** Hex id of our own unconfirmed transaction that spends it; `SOMEBODY` for one of the pool not made here. */
  pendingSpend: string | undefined;
  /** A smaller output with the same one-time key, of which only one can ever be spent ("burning bug"). */
  readonly replaces: OwnedOutput | undefined;
};

/** Money received by one subaddress in one transaction, change excluded. */
export type IncomingPayment = {
  readonly txHash: Uint8Array;
  /** 32 bytes; a short payment id fills the first 8. All zero when there is none. */
  readonly paymentId: Uint8Array;
  readonly amount: bigint;
  /** Amounts of the single outputs. */
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

/** `address` is the text the caller gave (its integrated form included). */
export type PaymentDestination = { readonly address: string; readonly amount: bigint };

/**
 * `signed`: kept, maybe not sent yet · `pending`: given to the node · `missing`: no longer in the node's pool ·
 * `failed`: given up, its inputs are free again · `confirmed`: in a block · `forgotten`: still waiting when a rescan
 * was asked for, so not shown until it is seen in the pool again, but it holds its inputs.
 */
export type OutgoingState = "signed" | "pending" | "missing" | "failed" | "confirmed" | "forgotten";

/** A transaction that spends outputs of this wallet, made here or seen in the chain. */
export type OutgoingPayment = {
  readonly txHash: Uint8Array;
  state: OutgoingState;
  /** The whole transaction as sent, to send it again; undefined when it was not made here or once it is deep enough. */
  blob: Uint8Array | undefined;
  readonly amountIn: bigint;
  /** Sum of all outputs, change included: `amountIn - fee`. */
  readonly amountOut: bigint;
  readonly change: bigint;
  readonly destinations: readonly PaymentDestination[];
  /** As in IncomingPayment. */
  readonly paymentId: Uint8Array;
  /** Account that paid, and the addresses of it that were used. */
  readonly account: number;
  readonly subaddressIndices: readonly number[];
  /** Key images of all inputs, 32 bytes each. */
  readonly keyImages: readonly Uint8Array[];
  readonly unlockTime: bigint;
  /** When it was made (seconds since 1970). */
  readonly createdAt: number;
  /** Block time once confirmed, else `createdAt`. */
  timestamp: number;
  /** Height of the containing block; 0 while unconfirmed. */
  height: number;
  /** It was in a block that a reorganisation has undone, and is in none since. */
  isUndone?: boolean;
  /** It was made here and has been in the node's pool. */
  isSeen?: boolean;
};

/** A call that spends, by the key of its caller. */
export type IntentHead = {
  /** Made up here where the caller gave none. */
  readonly key: string;
  /** SHA-256 of the call's name and params, 32 bytes; empty where the caller gave no key, so that nothing repeats it. */
  readonly asked: Uint8Array;
  /** The call's name. */
  readonly method: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
};

/**
 * What came of it. `sending`: signed and kept, and sent until it is final · `handedOut`: the caller has it, to sign or
 * to send it · `refused`: the node did not take it, and never gets it from here. `txHashes`: ids (32 bytes) of what is
 * signed, or of a refused call what may be on its way all the same. `answer`: packed, where the caller gave a key.
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

/** `outcome` is undefined while nothing is signed. */
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

/** Settings that live in the keys file as well. */
export type WalletSettings = {
  /** English name of the mnemonic's word list; empty when there is no mnemonic. */
  seedLanguage: string;
  /** First height worth scanning. */
  refreshFromHeight: number;
};

/** What one signer of a multisig wallet exported about one output; 32 bytes each. */
export type SignerInfo = {
  readonly signer: Uint8Array;
  /** Nonces as points, each good for one signature. */
  readonly nonces: readonly NoncePoints[];
  /** One for each of his shares. */
  readonly partialKeyImages: readonly Uint8Array[];
};

export type SinceCache = "nothing" | "chain" | "edits";

/** An output found by the scanner: what of it its transaction does not tell for all. */
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

/** A transaction that pays the wallet or spends from it, as far as the wallet cares. */
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
  /** 32 bytes, decrypted; zero when there is none. */
  readonly paymentId: Uint8Array;
  readonly received: readonly ScannedOutput[];
  /** Key images of all inputs, in order, with the public amount of each (0 for RingCT). */
  readonly inputs: readonly { readonly keyImage: Uint8Array; readonly amount: bigint }[];
};

/** What is scanned while the spend secret is away, to be judged again once it is back. */
export type BackgroundScan = {
  /** No block from here on was scanned with the spend secret. */
  fromHeight: number;
  /** What of these blocks pays the wallet, spends from it, or names an output without key image in a ring; in order. */
  readonly transactions: ScannedTransaction[];
  /** The settings under which it began. */
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
  /** Number of changes ever made: each has a number, from 1 on. */
  changeCount: number;
  /** 16 bytes that name the wallet's changes in an event log; empty before any log is kept of them. */
  eventSource: Uint8Array;
  /** Seconds since 1970 that are known to have passed, for what is locked until a time. */
  passedSeconds: number;
  /** While blocks that were undone are scanned again: the height the wallet had reached; else 0. */
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
  /** Key images a view-only wallet has imported, by hex one-time key: outputs found again get them back. */
  readonly coldKeyImages: Map<string, Uint8Array>;
  /**
   * Index of the first output whose key image is wanted: in a view-only wallet, of the first without one
   * (undefined: all); else of the first a view-only copy has asked for (undefined: none).
   */
  requestedFrom: number | undefined;
  /**
   * Rings in which an output was shown, by hex one-time key (global indices of all members), until it is spent for
   * good: shown in two different rings, it would be their only common member.
   */
  readonly rings: Map<string, readonly number[]>;
  /** Multisig: secret nonces whose points the other signers have, not used yet, by hex one-time key. */
  readonly multisigNonces: Map<string, readonly Uint8Array[]>;
  /** Multisig: what the other signers exported last, by hex one-time key. */
  readonly multisigInfos: Map<string, readonly SignerInfo[]>;
  /** Key images (hex) of frozen outputs not found yet, or lost in a reorganisation. */
  readonly frozenBefore: string[];
  /** Which writing of the original program's cache was taken over, or made here, last; empty: none. */
  takenOverCache: string;
  /** What has changed since that cache was taken over or written here; `edits`: what the chain does not tell. */
  sinceCache: SinceCache;
  /** Undefined while scans have the spend secret, and in a wallet that can only look. */
  background: BackgroundScan | undefined;
  /** Reward of the newest scanned block, atomic units. */
  lastBlockReward: bigint;
};

/** Ids of the newest scanned blocks: `ids[i]` (32 bytes) has height `offset + i`; the last is `height - 1`. */
export type RecentBlocks = { offset: number; ids: Uint8Array[] };
