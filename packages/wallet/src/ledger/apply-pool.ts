/** Brings the wallet's unconfirmed payments in line with what waits in the node's pool. */
import { sumAmounts, toHex } from "@anulo/protocol";
import type { WalletChange } from "../changes.ts";
import type { OwnTransaction, PoolSnapshot } from "../scan/messages.ts";
import type { OutgoingPayment, OutgoingState, PoolPayment, WalletState } from "../state.ts";
import { paymentSeen, poolPayments, spentBy } from "./apply-blocks.ts";
import type { Ledger } from "./ledger.ts";

/**
 * Seconds a transaction may take to reach the pool before it counts as lost.
 * Source: wallet2.cpp `update_pool_state` tx_propagation_timeout.
 */
const PROPAGATION_SECONDS = 500;

/** The payments the pool would bring; `seconds` since 1970 is when new ones are first seen. */
export function incomingFromPool(ledger: Ledger, picture: PoolSnapshot, seconds: number): PoolPayment[] {
  if (picture.found.length === 0) return [];
  const seen = new Map(ledger.state.pool.map((payment) => [toHex(payment.txHash), payment.timestamp]));
  const confirmed = new Set(ledger.state.incoming.map(({ txHash }) => toHex(txHash)));
  const counted = new Map<string, bigint>();
  return picture.found.flatMap(({ transaction, doubleSpendSeen }) => {
    const id = toHex(transaction.txHash);
    if (confirmed.has(id)) return []; // mined while we looked
    const timestamp = seen.get(id) ?? seconds;
    return poolPayments(ledger, { ...transaction, timestamp }, counted).map((payment) => ({
      ...payment,
      doubleSpendSeen,
    }));
  });
}

/** The unconfirmed transactions that were made here, for a look at the pool. */
export function ownInPool({ outgoing }: Readonly<WalletState>): OwnTransaction[] {
  const own: OwnTransaction[] = [];
  for (const [id, { state, blob }] of outgoing)
    if (state !== "confirmed" && blob !== undefined) own.push({ id, blob });
  return own;
}

/**
 * Payments of the pool that spend outputs of the wallet and were not made here, such as those of another copy of its
 * seed; `seconds` since 1970 is when they are first seen. Source: wallet2.cpp `process_new_transaction`.
 */
export function spendsFromPool(ledger: Ledger, { found }: PoolSnapshot, seconds: number): WalletChange[] {
  return found.flatMap(({ transaction }): WalletChange[] => {
    if (ledger.state.outgoing.has(toHex(transaction.txHash))) return [];
    const spent = spentBy(ledger, transaction);
    // What a block spends is not spent once more.
    if (spent.amount === 0n || spent.outputs.some(({ spentHeight }) => spentHeight !== undefined)) return [];
    const back = transaction.received.filter(({ subaddress }) => subaddress.major === spent.account);
    const payment = paymentSeen({ ...transaction, timestamp: seconds }, spent, sumAmounts(back));
    return [{ kind: "outgoing", payment, txKeys: [] }];
  });
}

/** How the pool moves the wallet's own unconfirmed payments. Only after the newest block has been scanned. */
export function outgoingFromPool(ledger: Ledger, picture: PoolSnapshot, seconds: number): WalletChange[] {
  const changes: WalletChange[] = [];
  let ids: ReadonlySet<string> | undefined;
  for (const [id, payment] of ledger.state.outgoing) {
    if (payment.state === "confirmed") continue;
    ids ??= idsOf(picture);
    const isInPool = ids.has(id);
    const isOwn = payment.blob !== undefined;
    const next = nextState(payment.state, { isInPool, mayBeLost: !isOwn && isLate(payment, seconds) });
    const isNews = isOwn && isInPool && payment.isSeen !== true;
    if (next === payment.state && !isNews) continue;
    changes.push({ kind: "outgoingState", txHash: id, state: next, ...(isNews && { isSeen: true }) });
  }
  return changes;
}

/** All that waits in the pool, in hex. */
function idsOf({ ids }: PoolSnapshot): Set<string> {
  const hex = toHex(ids);
  const all = new Set<string>();
  for (let at = 0; at < hex.length; at += 64) all.add(hex.slice(at, at + 64));
  return all;
}

/** Whether a transaction has had the time it takes to reach the pool; `seconds` since 1970. */
export function isLate({ createdAt }: Pick<OutgoingPayment, "createdAt">, seconds: number): boolean {
  return seconds > createdAt + PROPAGATION_SECONDS;
}

/**
 * A payment is given up the second time it is missing, so that one just mined is not mistaken for lost; one that can be
 * sent again is not given up here.
 */
function nextState(
  state: OutgoingState,
  { isInPool, mayBeLost }: { isInPool: boolean; mayBeLost: boolean },
): OutgoingState {
  if (state === "confirmed") return state;
  if (isInPool) return "pending";
  if (state === "pending") return "missing";
  // `signed`: about to be sent, or the service died before it could be.
  return mayBeLost && state !== "failed" ? "failed" : state;
}

/** Drops payments of the pool that are in blocks by now, where nobody looks at the pool. */
export function withoutMined({ pool, incoming }: Readonly<WalletState>): WalletChange[] {
  if (pool.length === 0) return [];
  const mined = new Set(incoming.map(({ txHash }) => toHex(txHash)));
  const payments = pool.filter(({ txHash }) => !mined.has(toHex(txHash)));
  return payments.length < pool.length ? [{ kind: "pool", payments }] : [];
}
