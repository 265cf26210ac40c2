import { RpcError } from "@anulo/rpc";

/** The errors of the wallet, with the code a caller receives. Source: wallet_rpc_server_error_codes.h. */
export const refusalCodes = {
  /** Some errors of the original have no code. */
  NONE: 0,
  UNKNOWN_ERROR: -1,
  WRONG_ADDRESS: -2,
  DAEMON_IS_BUSY: -3,
  GENERIC_TRANSFER_ERROR: -4,
  WRONG_PAYMENT_ID: -5,
  TRANSFER_TYPE: -6,
  DENIED: -7,
  WRONG_TXID: -8,
  WRONG_SIGNATURE: -9,
  WRONG_KEY_IMAGE: -10,
  WRONG_URI: -11,
  WRONG_INDEX: -12,
  NOT_OPEN: -13,
  ACCOUNT_INDEX_OUT_OF_BOUNDS: -14,
  ADDRESS_INDEX_OUT_OF_BOUNDS: -15,
  TX_NOT_POSSIBLE: -16,
  NOT_ENOUGH_MONEY: -17,
  TX_TOO_LARGE: -18,
  NOT_ENOUGH_OUTS_TO_MIX: -19,
  ZERO_DESTINATION: -20,
  WALLET_ALREADY_EXISTS: -21,
  INVALID_PASSWORD: -22,
  NO_WALLET_DIR: -23,
  NO_TXKEY: -24,
  WRONG_KEY: -25,
  BAD_HEX: -26,
  BAD_TX_METADATA: -27,
  ALREADY_MULTISIG: -28,
  WATCH_ONLY: -29,
  BAD_MULTISIG_INFO: -30,
  NOT_MULTISIG: -31,
  WRONG_LR: -32,
  THRESHOLD_NOT_REACHED: -33,
  BAD_MULTISIG_TX_DATA: -34,
  MULTISIG_SIGNATURE: -35,
  MULTISIG_SUBMISSION: -36,
  NOT_ENOUGH_UNLOCKED_MONEY: -37,
  NO_DAEMON_CONNECTION: -38,
  BAD_UNSIGNED_TX_DATA: -39,
  BAD_SIGNED_TX_DATA: -40,
  SIGNED_SUBMISSION: -41,
  SIGN_UNSIGNED: -42,
  NON_DETERMINISTIC: -43,
  INVALID_LOG_LEVEL: -44,
  ATTRIBUTE_NOT_FOUND: -45,
  ZERO_AMOUNT: -46,
  INVALID_SIGNATURE_TYPE: -47,
  DISABLED: -48,
  PROXY_ALREADY_DEFINED: -49,
  NONZERO_UNLOCK_TIME: -50,
  IS_BACKGROUND_WALLET: -51,
  IS_BACKGROUND_SYNCING: -52,
  /** Codes of our own, after the HTTP codes with the same meaning: the original's codes are -1 to -53. */
  TOKEN_CAP: -403,
  NO_SUCH_INTENT: -404,
  IDEMPOTENCY_KEY_REUSED: -422,
  UNOWNED: -503,
} as const;

export type RefusalKind = keyof typeof refusalCodes;

/** An expected error: `kind` chooses the code, the message is for the caller. It contains no secret. */
export class WalletRefusal extends RpcError {
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, message: string, data?: RpcError["data"]) {
    super(refusalCodes[kind], message, data);
    this.name = "WalletRefusal";
    this.kind = kind;
  }
}

/**
 * The error for a wallet that exists, or should, and can't be opened. Source: wallet_rpc_server.cpp `on_open_wallet`.
 */
export const failedToOpen = (why: string) =>
  new WalletRefusal("UNKNOWN_ERROR", `Failed to open wallet : ${why}`);

/** A wallet's store could not be written, or it is not known whether it was; it is its only owner's as before. */
export class UnwrittenStore extends WalletRefusal {
  constructor(why: string, remedy = "which the service does by itself") {
    super(
      "UNKNOWN_ERROR",
      `The wallet's store cannot be written: ${why}. Nothing more is kept until the wallet is opened again, ${remedy}`,
    );
  }
}

/** The store of an open wallet has lost changes that it had confirmed, as after a failover to a standby that lagged. */
export class OlderStore extends UnwrittenStore {
  constructor() {
    super(
      "it is an older copy than the one this service has written",
      "which the service does once that is back, or where --accept-older-store is given",
    );
  }
}

/** A part of an open wallet's store could not be read; its only owner is the same as before. */
export class UnreadStore extends WalletRefusal {
  constructor(why: string) {
    super("UNKNOWN_ERROR", `A part of the wallet's store cannot be read: ${why}`);
  }
}

/** The error for a wallet that another service has opened since. */
export const ownedElsewhere = () =>
  new WalletRefusal(
    "UNKNOWN_ERROR",
    "The wallet's store cannot be written: another service has opened the wallet. Nothing more is kept until the wallet is opened again",
  );

/** There is no such wallet. */
export class MissingWallet extends WalletRefusal {
  constructor(keysFile: string) {
    super("UNKNOWN_ERROR", `Failed to open wallet : file not found "${keysFile}"`);
  }
}
