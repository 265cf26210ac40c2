/** The wallet's history as its callers read it. Source: wallet_rpc_server.cpp `fill_transfer_entry`, `set_confirmations`. */
import { toHex } from "@anulo/protocol";
import type {
  IncomingPayment,
  OutgoingPayment,
  PaymentDestination,
  PoolPayment,
  SubaddressIndex,
  WalletState,
} from "../state.ts";
import { BLOCK_SECONDS, isUnlocked, MAX_BLOCK_NUMBER, type Now } from "../unlock.ts";

export type TransferKind = "in" | "block" | "out" | "pending" | "failed" | "pool";

/** One line of the history. Amounts in atomic units. */
export type Transfer = {
  readonly kind: TransferKind;
  readonly txHash: string;
  readonly paymentId: string;
  /** 0 while unconfirmed. */
  readonly height: number;
  readonly timestamp: number;
  readonly amount: bigint;
  /** Amounts of the single outputs; empty for outgoing ones. */
  readonly amounts: readonly bigint[];
  readonly fee: bigint;
  readonly unlockTime: bigint;
  readonly locked: boolean;
  readonly doubleSpendSeen: boolean;
  /** Undefined for incoming ones. */
  readonly destinations: readonly PaymentDestination[] | undefined;
  /** The receiving address, or the first of the account that paid. */
  readonly subaddress: SubaddressIndex;
  readonly subaddresses: readonly SubaddressIndex[];
  readonly confirmations: number;
  readonly suggestedConfirmations: number;
};

export type TransferFilter = {
  /** Undefined: all accounts. */
  readonly account: number | undefined;
  /** Empty: all addresses. */
  readonly minors: readonly number[];
  /** Above this height. */
  readonly minHeight: number;
  /** Up to and including this height. */
  readonly maxHeight: number;
};

/** What the history needs to know beyond the payments. */
export type HistoryContext = { readonly state: Readonly<WalletState>; readonly now: Now };

/** Received and confirmed, newest first. */
export function incomingTransfers(context: HistoryContext, filter: TransferFilter): Transfer[] {
  return newestFirst(context.state.incoming)
    .filter((payment) => isWithin(payment.height, filter) && isTo(payment.subaddress, filter))
    .map((payment) => incomingTransfer(payment, payment.coinbase ? "block" : "in", context));
}

/** Sent and confirmed, newest first. */
export function outgoingTransfers(context: HistoryContext, filter: TransferFilter): Transfer[] {
  return newestFirst([...context.state.outgoing.values()])
    .filter(
      (payment) =>
        payment.state === "confirmed" && isWithin(payment.height, filter) && isFrom(payment, filter),
    )
    .sort((a, b) => b.height - a.height)
    .map((payment) => outgoingTransfer(payment, context));
}

/** Sent and not in a block; failed ones included. */
export function unconfirmedTransfers(context: HistoryContext, filter: TransferFilter): Transfer[] {
  return newestFirst([...context.state.outgoing.values()])
    .filter(
      (payment) => payment.state !== "confirmed" && payment.state !== "forgotten" && isFrom(payment, filter),
    )
    .map((payment) => outgoingTransfer(payment, context));
}

/** Incoming ones that wait in the pool. */
export function poolTransfers(context: HistoryContext, filter: TransferFilter): Transfer[] {
  return context.state.pool
    .filter((payment) => isTo(payment.subaddress, filter))
    .map((payment) => ({
      ...incomingTransfer(payment, "pool", context),
      doubleSpendSeen: payment.doubleSpendSeen,
    }));
}

/** All entries of one transaction: in, out, unconfirmed, pool. */
export function transfersOf(context: HistoryContext, txHash: string, account: number): Transfer[] {
  const filter = { account, minors: [], minHeight: 0, maxHeight: Number.MAX_SAFE_INTEGER };
  return [incomingTransfers, outgoingTransfers, unconfirmedTransfers, poolTransfers]
    .flatMap((list) => list(context, filter))
    .filter((transfer) => transfer.txHash === txHash);
}

function newestFirst<T>(payments: readonly T[]): T[] {
  return [...payments].reverse();
}

function isWithin(height: number, { minHeight, maxHeight }: TransferFilter): boolean {
  return minHeight < height && height <= maxHeight;
}

function isTo({ major, minor }: SubaddressIndex, { account, minors }: TransferFilter): boolean {
  return (account === undefined || account === major) && (minors.length === 0 || minors.includes(minor));
}

function isFrom(payment: OutgoingPayment, { account, minors }: TransferFilter): boolean {
  if (account !== undefined && account !== payment.account) return false;
  return minors.length === 0 || payment.subaddressIndices.some((minor) => minors.includes(minor));
}

/** A short payment id is written as 16 digits. */
function paymentIdText(paymentId: Uint8Array): string {
  const text = toHex(paymentId);
  return /^0*$/.test(text.slice(16)) ? text.slice(0, 16) : text;
}

function incomingTransfer(
  payment: IncomingPayment | PoolPayment,
  kind: TransferKind,
  context: HistoryContext,
): Transfer {
  const { subaddress, amount, unlockTime } = payment;
  const height = kind === "pool" ? 0 : payment.height;
  return {
    kind,
    txHash: toHex(payment.txHash),
    paymentId: paymentIdText(payment.paymentId),
    ...{ height, amount, unlockTime, subaddress },
    timestamp: payment.timestamp,
    amounts: payment.amounts,
    fee: payment.fee,
    locked: kind === "pool" || !isUnlocked(payment, context.now),
    doubleSpendSeen: false,
    destinations: undefined,
    subaddresses: [subaddress],
    ...confirmations({ kind, height, amount, unlockTime }, context),
  };
}

function outgoingTransfer(payment: OutgoingPayment, context: HistoryContext): Transfer {
  const { amountIn, amountOut, change, unlockTime, account, height } = payment;
  const isConfirmed = payment.state === "confirmed";
  const kind = isConfirmed ? "out" : payment.state === "failed" ? "failed" : "pending";
  const fee = amountIn - amountOut;
  const amount = amountIn - change - fee;
  return {
    ...{ kind, height, amount, fee, unlockTime },
    txHash: toHex(payment.txHash),
    paymentId: paymentIdText(payment.paymentId),
    timestamp: payment.timestamp,
    amounts: [],
    locked: !isConfirmed || !isUnlocked(payment, context.now),
    doubleSpendSeen: false,
    destinations: payment.destinations,
    subaddress: { major: account, minor: 0 },
    subaddresses: payment.subaddressIndices.map((minor) => ({ major: account, minor })),
    ...confirmations({ kind, height, amount, unlockTime }, context),
  };
}

type Confirmable = Pick<Transfer, "kind" | "height" | "amount" | "unlockTime">;

/** As many blocks as would have to be rewritten at a loss, or until the unlock time. */
function confirmations({ kind, height, amount, unlockTime }: Confirmable, { state, now }: HistoryContext) {
  const isUnseen = height === 0 && (kind === "pending" || kind === "pool");
  const count = height >= now.height || isUnseen ? 0 : now.height - height;
  const reward = state.lastBlockReward;
  const forAmount = reward === 0n ? 0n : (amount + reward - 1n) / reward;
  const untilUnlock = blocksUntil(unlockTime, now);
  return {
    confirmations: count,
    suggestedConfirmations: Number(untilUnlock > forAmount ? untilUnlock : forAmount),
  };
}

function blocksUntil(unlockTime: bigint, now: Now): bigint {
  if (unlockTime < MAX_BLOCK_NUMBER) return unlockTime - BigInt(now.height);
  return (unlockTime - BigInt(now.seconds) + BigInt(BLOCK_SECONDS) - 1n) / BigInt(BLOCK_SECONDS);
}
