/**
 * The wallet's history in the form that callers receive. Source: wallet_rpc_server.cpp `fill_transfer_entry`,
 * `set_confirmations`.
 */
import { equalBytes, MAX_BLOCK_NUMBER, toHex } from "@anulo/protocol";
import { BLOCK_SECONDS } from "../outputs/locked-places.ts";
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import { isFrom } from "../packed/payment-record.ts";
import type { ReceiptFilter } from "../packed/receipts.ts";
import { Selected } from "../packed/records.ts";
import { feePaid, paidBy } from "../payment.ts";
import type {
  IncomingPayment,
  OutgoingPayment,
  PaymentDestination,
  PoolPayment,
  WalletState,
} from "../state.ts";
import { isUnlocked, type Now } from "../unlock.ts";

export type TransferKind = "in" | "block" | "out" | "pending" | "failed" | "pool";

/** One entry of the history. Amounts in atomic units. */
export type Transfer = {
  readonly kind: TransferKind;
  readonly txHash: string;
  readonly paymentId: string;
  /** 0 while unconfirmed. */
  readonly height: number;
  readonly timestamp: number;
  readonly amount: bigint;
  /** Amounts of the single outputs; empty for outgoing transfers. */
  readonly amounts: readonly bigint[];
  readonly fee: bigint;
  readonly unlockTime: bigint;
  readonly locked: boolean;
  readonly doubleSpendSeen: boolean;
  /** Undefined for incoming transfers. */
  readonly destinations: readonly PaymentDestination[] | undefined;
  /** The receiving address, or the first address of the account that paid. */
  readonly subaddress: SubaddressIndex;
  readonly subaddresses: readonly SubaddressIndex[];
  readonly confirmations: number;
  readonly suggestedConfirmations: bigint;
};

export type TransferFilter = ReceiptFilter;

/** The context that entries of the history depend on besides the payments. */
export type HistoryContext = { readonly state: Readonly<WalletState>; readonly now: Now };

type ListedAs<K, P> = K extends TransferKind ? { readonly kind: K; readonly payment: P } : never;
/** A payment selected as an entry of the history, not yet formatted: selecting is fast, formatting is not. */
export type Listed =
  | ListedAs<"in" | "block", IncomingPayment>
  | ListedAs<"pool", PoolPayment>
  | ListedAs<"out" | "pending" | "failed", OutgoingPayment>;

type State = Readonly<WalletState>;

/** Entries of the history as they are at one moment, each read when it is needed. */
export type TransferList = Selected<Listed> & { readonly receivers?: () => Iterable<SubaddressIndex> };

/** Finds the confirmed incoming payments, newest first; pauses in between. */
export function* listIncoming(state: State, filter: TransferFilter): Generator<void, TransferList> {
  return incomingAt(state, yield* state.incoming.matching(filter));
}

/** The receipts at some places, as entries. */
function incomingAt({ incoming }: State, places: ArrayLike<number>): TransferList {
  const selected = incoming.selected(places);
  const list = new Selected<Listed>(selected.length, (index) => {
    const payment = selected.at(index);
    return { kind: payment.coinbase ? "block" : "in", payment };
  });
  return Object.assign(list, { receivers: () => selected.receivers() });
}

/** Finds the confirmed outgoing payments as they are at the first step, newest first; pauses in between. */
export function* listOutgoing({ outgoing }: State, filter: TransferFilter): Generator<void, TransferList> {
  const selected = yield* outgoing.matching(filter);
  return new Selected(selected.length, (index) => ({ kind: "out", payment: selected.at(index) }));
}

/** Outgoing payments that are not in a block, failed ones included. */
export function listUnconfirmed({ outgoing }: State, filter: TransferFilter): TransferList {
  const payments = outgoing
    .unconfirmed()
    .reverse()
    .filter((payment) => payment.state !== "forgotten" && isFrom(payment, filter));
  return transferListOf(payments.map((payment) => ({ kind: kindOf(payment), payment })));
}

/** Incoming payments in the pool. */
export function listPool({ pool }: State, filter: TransferFilter): TransferList {
  const payments = pool.filter((payment) => isTo(payment.subaddress, filter));
  return transferListOf(payments.map((payment) => ({ kind: "pool", payment })));
}

/** All entries of one transaction: incoming, outgoing, unconfirmed, pool. */
export function transfersOf(context: HistoryContext, txHash: string, account: number): Transfer[] {
  const { incoming, outgoing, pool } = context.state;
  const hash = Buffer.from(txHash, "hex");
  const received = incomingAt(context.state, incoming.placesOf(hash).reverse());
  const own = outgoing.get(txHash);
  const listed: Listed[] = [];
  for (const each of received)
    if (each.payment.height > 0 && receiverOf(each).major === account) listed.push(each);
  if (own !== undefined && own.account === account && isShown(own))
    listed.push({ kind: kindOf(own), payment: own });
  for (const payment of pool)
    if (payment.subaddress.major === account && equalBytes(payment.txHash, hash))
      listed.push({ kind: "pool", payment });
  return listed.map((each) => transferOf(each, context));
}

const isShown = ({ state, height }: OutgoingPayment): boolean =>
  state === "confirmed" ? height > 0 : state !== "forgotten";

function kindOf({ state }: OutgoingPayment): "out" | "failed" | "pending" {
  if (state === "confirmed") return "out";
  return state === "failed" ? "failed" : "pending";
}

/** Some entries that are held already. */
export function transferListOf(listed: readonly Listed[]): TransferList {
  return new Selected(listed.length, (index) => listed[index]!);
}

/** The addresses of all entries. */
export function* receiversOf(list: TransferList): Generator<SubaddressIndex> {
  if (list.receivers !== undefined) yield* list.receivers();
  else for (const listed of list) yield receiverOf(listed);
}

/** The address of an entry: the receiving one, or the first of the account that paid. */
function receiverOf({ payment }: Listed): SubaddressIndex {
  return "subaddress" in payment ? payment.subaddress : { major: payment.account, minor: 0 };
}

/** Formats an entry. */
export function transferOf(listed: Listed, context: HistoryContext): Transfer {
  if (listed.kind === "in" || listed.kind === "block" || listed.kind === "pool")
    return incomingTransfer(listed.payment, listed.kind, context);
  return outgoingTransfer(listed.payment, listed.kind, context);
}

function isTo({ major, minor }: SubaddressIndex, { account, minors }: TransferFilter): boolean {
  return (account === undefined || account === major) && (minors.size === 0 || minors.has(minor));
}

/** A short payment id is formatted as 16 digits. */
function paymentIdText(paymentId: Uint8Array): string {
  const isShort = paymentId.subarray(8).every((byte) => byte === 0);
  return toHex(isShort ? paymentId.subarray(0, 8) : paymentId);
}

function incomingTransfer(
  payment: IncomingPayment | PoolPayment,
  kind: "in" | "block" | "pool",
  context: HistoryContext,
): Transfer {
  const { subaddress, amount, unlockTime } = payment;
  const height = kind === "pool" ? 0 : payment.height;
  const depth = confirmations({ kind, height, amount, unlockTime }, context);
  return {
    kind,
    txHash: toHex(payment.txHash),
    paymentId: paymentIdText(payment.paymentId),
    height,
    timestamp: payment.timestamp,
    amount,
    amounts: payment.amounts,
    fee: payment.fee,
    unlockTime,
    locked: kind === "pool" || !isUnlocked(payment, context.now),
    doubleSpendSeen: "doubleSpendSeen" in payment && payment.doubleSpendSeen,
    destinations: undefined,
    subaddress,
    subaddresses: [subaddress],
    confirmations: depth.confirmations,
    suggestedConfirmations: depth.suggestedConfirmations,
  };
}

function outgoingTransfer(
  payment: OutgoingPayment,
  kind: "out" | "pending" | "failed",
  context: HistoryContext,
): Transfer {
  const { unlockTime, account, height } = payment;
  const amount = paidBy(payment);
  const depth = confirmations({ kind, height, amount, unlockTime }, context);
  return {
    kind,
    txHash: toHex(payment.txHash),
    paymentId: paymentIdText(payment.paymentId),
    height,
    timestamp: payment.timestamp,
    amount,
    amounts: [],
    fee: feePaid(payment),
    unlockTime,
    locked: kind !== "out" || !isUnlocked(payment, context.now),
    doubleSpendSeen: false,
    destinations: payment.destinations,
    subaddress: { major: account, minor: 0 },
    subaddresses: payment.subaddressIndices.map((minor) => ({ major: account, minor })),
    confirmations: depth.confirmations,
    suggestedConfirmations: depth.suggestedConfirmations,
  };
}

type Confirmable = Pick<Transfer, "kind" | "height" | "amount" | "unlockTime">;

/** Suggested confirmations: as many blocks as would have to be rewritten at a loss, or until the unlock time. */
function confirmations({ kind, height, amount, unlockTime }: Confirmable, { state, now }: HistoryContext) {
  const isUnseen = height === 0 && (kind === "pending" || kind === "pool");
  const count = height >= now.height || isUnseen ? 0 : now.height - height;
  const reward = state.lastBlockReward;
  const forAmount = reward === 0n ? 0n : (amount + reward - 1n) / reward;
  const untilUnlock = blocksUntil(unlockTime, now);
  return {
    confirmations: count,
    suggestedConfirmations: untilUnlock > forAmount ? untilUnlock : forAmount,
  };
}

function blocksUntil(unlockTime: bigint, now: Now): bigint {
  if (unlockTime < MAX_BLOCK_NUMBER) return unlockTime - BigInt(now.height);
  return (unlockTime - BigInt(now.seconds) + BigInt(BLOCK_SECONDS) - 1n) / BigInt(BLOCK_SECONDS);
}
