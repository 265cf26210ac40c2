/** Compares the wallet's unconfirmed payments with the node's pool. */
import { sumAmounts, toHex } from "@anulo/protocol";
import type { WalletChange } from "../changes.ts";
import type { OwnTransaction, PoolSnapshot } from "../scan/messages.ts";
import type { OutgoingPayment, OutgoingState, PoolPayment, WalletState } from "../state.ts";
import { isReturned } from "../transfer/change.ts";
import { paymentSeen, poolPayments, spentBy } from "./apply-blocks.ts";
import type { Ledger } from "./ledger.ts";

/**
 * Seconds a transaction may take to reach the pool before it counts as lost.
 * Source: wallet2.cpp `update_pool_state` tx_propagation_timeout.
 */
const PROPAGATION_SECONDS = 500;

/**
 * The change that the payments in the pool cause; `seconds` since 1970 is the time at which new ones are first seen.
 */
export function incomingFromPool(ledger: Ledger, picture: PoolSnapshot, seconds: number): PoolPayment[] {
  if (picture.finds.length === 0) return [];
  const timestamps = new Map(ledger.state.pool.map((payment) => [toHex(payment.txHash), payment.timestamp]));
  const counted = new Map<string, bigint>();
  return picture.finds.flatMap(({ transaction, doubleSpendSeen }) => {
    const id = toHex(transaction.txHash);
    if (ledger.state.incoming.has(transaction.txHash)) return []; // mined while we looked
    const timestamp = timestamps.get(id) ?? seconds;
    return poolPayments(ledger, { ...transaction, timestamp }, counted).map((payment) => ({
      ...payment,
      doubleSpendSeen,
    }));
  });
}

/** The unconfirmed transactions created here, for a scan of the pool. */
export function ownInPool({ outgoing }: Readonly<WalletState>): OwnTransaction[] {
  const own: OwnTransaction[] = [];
  for (const { txHash, blob } of outgoing.unconfirmed())
    if (blob !== undefined) own.push({ id: toHex(txHash), blob });
  return own;
}

/**
 * Payments in the pool that spend outputs of the wallet and were not created here, such as those of another copy of its
 * seed; `seconds` since 1970 is the time at which they are first seen. Source: wallet2.cpp `process_new_transaction`.
 */
export function spendsFromPool(ledger: Ledger, { finds }: PoolSnapshot, seconds: number): WalletChange[] {
  return finds.flatMap(({ transaction }): WalletChange[] => {
    if (ledger.state.outgoing.has(toHex(transaction.txHash))) return [];
    const spent = spentBy(ledger, transaction);
    // An output that a block spends is not spent once more.
    if (spent.amount === 0n || spent.outputs.some(({ spentHeight }) => spentHeight !== undefined)) return [];
    const back = transaction.received.filter(({ subaddress }) => isReturned(subaddress, spent.account));
    const payment = paymentSeen({ ...transaction, timestamp: seconds }, spent, sumAmounts(back));
    return [{ kind: "outgoing", payment, txKeys: [] }];
  });
}

/** Whether a scan of the pool can change nothing: none of the wallet's payments is in it, or has been. */
export function isPoolQuiet({ state }: Ledger, { finds }: PoolSnapshot): boolean {
  return finds.length === 0 && state.pool.length === 0 && state.outgoing.unconfirmed().length === 0;
}

/**
 * Returns how the pool changes the states of the wallet's own unconfirmed payments. To be called only after the newest
 * block was scanned.
 */
export function outgoingFromPool(ledger: Ledger, picture: PoolSnapshot, seconds: number): WalletChange[] {
  const changes: WalletChange[] = [];
  const unconfirmed = ledger.state.outgoing.unconfirmed();
  const waiting = idsIn(
    picture,
    unconfirmed.map(({ txHash }) => txHash),
  );
  for (const payment of unconfirmed) {
    const id = toHex(payment.txHash);
    const isInPool = waiting.has(id);
    const isOwn = payment.blob !== undefined;
    const next = nextState(payment.state, { isInPool, mayBeLost: !isOwn && isLate(payment, seconds) });
    const isNews = isOwn && isInPool && payment.isSeen !== true;
    if (next === payment.state && !isNews) continue;
    changes.push({ kind: "outgoingState", txHash: id, state: next, ...(isNews && { isSeen: true }) });
  }
  return changes;
}

const ID_BYTES = 32;
const PREFIXES = 65_536;

/** Those of some transactions (ids) that are in the pool, in hex; a pool may have a hundred thousand others. */
function idsIn({ ids }: PoolSnapshot, txHashes: readonly Uint8Array[]): ReadonlySet<string> {
  const present = new Set<string>();
  if (txHashes.length === 0) return present;
  const asked = new Set(txHashes.map(toHex));
  const prefixes = new Uint8Array(PREFIXES);
  for (const [first, second] of txHashes) prefixes[first! | (second! << 8)] = 1;
  for (let at = 0; at < ids.length; at += ID_BYTES) {
    if (prefixes[ids[at]! | (ids[at + 1]! << 8)] === 0) continue;
    const id = toHex(ids.slice(at, at + ID_BYTES));
    if (asked.has(id)) present.add(id);
  }
  return present;
}

/** Whether a transaction should have reached the pool by now; `seconds` since 1970. */
export function isLate({ createdAt }: Pick<OutgoingPayment, "createdAt">, seconds: number): boolean {
  return seconds > createdAt + PROPAGATION_SECONDS;
}

/**
 * The next state of a payment. It fails the second time it is missing, so that one just mined is not mistaken for lost;
 * a payment that can be sent again does not fail here.
 */
function nextState(
  state: OutgoingState,
  { isInPool, mayBeLost }: { isInPool: boolean; mayBeLost: boolean },
): OutgoingState {
  if (state === "confirmed") return state;
  if (isInPool) return "pending";
  if (state === "pending") return "missing";
  // `signed`: it is about to be sent, or the service stopped before it was.
  return mayBeLost && state !== "failed" ? "failed" : state;
}

/** Removes payments from the pool list that are in blocks by now, for wallets that do not scan the pool. */
export function withoutMined({ pool, incoming }: Readonly<WalletState>): WalletChange[] {
  if (pool.length === 0) return [];
  const payments = pool.filter(({ txHash }) => !incoming.has(txHash));
  return payments.length < pool.length ? [{ kind: "pool", payments }] : [];
}
