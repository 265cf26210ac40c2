/**
 * Balances, in atomic units. Pure functions over the state. Source: wallet2.cpp `balance_per_subaddress` and its kin.
 */
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import type { OutgoingPayment, WalletState } from "../state.ts";
import { isReturned } from "../transfer/change.ts";
import { isUnlocked, isUnspent, type Now, type SpendState, timeToUnlock } from "../unlock.ts";

/** One address of an account. */
export type AddressBalance = {
  minor: number;
  balance: bigint;
  unlocked: bigint;
  blocksToUnlock: number;
  secondsToUnlock: bigint;
};

export type AccountBalance = {
  readonly balance: bigint;
  readonly unlocked: bigint;
  readonly blocksToUnlock: number;
  readonly secondsToUnlock: bigint;
  /** Ascending; addresses that never received anything are left out. */
  readonly addresses: readonly AddressBalance[];
  /** Number of unspent outputs, frozen ones included, by minor index. */
  readonly unspentOutputs: ReadonlyMap<number, number>;
};

export type BalanceQuestion = {
  readonly account: number;
  /**
   * Count confirmed amounts only: no unconfirmed change, no pool payments, and outputs that an unconfirmed transaction
   * spends still count.
   */
  readonly strict: boolean;
  readonly now: Now;
  /** Index of an address of this wallet. */
  readonly indexOf: (address: string) => SubaddressIndex | undefined;
};

/** The later of two unlock times, which senders choose freely, up to 2^64 − 1. */
export function later(a: bigint, b: bigint): bigint {
  if (a > b) return a;
  return b;
}

type LedgerPart = Readonly<Pick<WalletState, "outputs" | "outgoing" | "pool">>;

export function accountBalance(state: LedgerPart, question: BalanceQuestion): AccountBalance {
  const byMinor = new Map<number, AddressBalance>();
  const at = (minor: number): AddressBalance => {
    const existing = byMinor.get(minor);
    if (existing !== undefined) return existing;
    const fresh = { minor, balance: 0n, unlocked: 0n, blocksToUnlock: 0, secondsToUnlock: 0n };
    byMinor.set(minor, fresh);
    return fresh;
  };
  addOutputs(state, question, at);
  if (!question.strict) addUnconfirmed(state, question, at);
  const addresses = [...byMinor.values()].sort((a, b) => a.minor - b.minor);
  const sum = (value: (entry: AddressBalance) => bigint) =>
    addresses.reduce((total, entry) => total + value(entry), 0n);
  return {
    balance: sum((entry) => entry.balance),
    unlocked: sum((entry) => entry.unlocked),
    blocksToUnlock: addresses.reduce((most, entry) => Math.max(most, entry.blocksToUnlock), 0),
    secondsToUnlock: addresses.reduce((most, { secondsToUnlock }) => later(most, secondsToUnlock), 0n),
    addresses,
    unspentOutputs: countUnspent(state, question.account),
  };
}

function countUnspent({ outputs }: LedgerPart, account: number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const [minor, { unspent }] of outputs.sumsOf(account)) if (unspent > 0) counts.set(minor, unspent);
  return counts;
}

type At = (minor: number) => AddressBalance;

function addOutputs({ outputs }: LedgerPart, { account, strict, now }: BalanceQuestion, at: At): void {
  for (const [minor, sum] of outputs.sumsOf(account)) {
    if (sum.freeCount + (strict ? sum.reservedCount : 0) === 0) continue;
    const entry = at(minor);
    entry.balance += sum.free + (strict ? sum.reserved : 0n);
    entry.unlocked = entry.balance;
  }
  for (const output of outputs.lockedOf(account, now.height)) {
    if (output.frozen || !counts(output, strict) || isUnlocked(output, now)) continue;
    const entry = at(output.subaddress.minor);
    entry.unlocked -= output.amount;
    const { blocks, seconds } = timeToUnlock(output, now);
    entry.blocksToUnlock = Math.max(entry.blocksToUnlock, blocks);
    entry.secondsToUnlock = later(entry.secondsToUnlock, seconds);
  }
}

function counts(output: SpendState, strict: boolean): boolean {
  return strict ? output.spentHeight === undefined : isUnspent(output);
}

function addUnconfirmed(state: LedgerPart, { account, indexOf }: BalanceQuestion, at: At): void {
  for (const payment of state.outgoing.unconfirmed()) {
    if (payment.account === account && isWaiting(payment)) addOwnShare(payment, indexOf, at);
  }
  for (const { subaddress, amount } of state.pool) {
    if (subaddress.major === account) at(subaddress.minor).balance += amount;
  }
}

/** Whether it is unconfirmed: sent to the node, or about to be. */
function isWaiting({ state }: OutgoingPayment): boolean {
  return state === "signed" || state === "pending" || state === "missing";
}

/** Change returns to the first address of the account. */
function addOwnShare(payment: OutgoingPayment, indexOf: BalanceQuestion["indexOf"], at: At): void {
  at(0).balance += payment.change;
  for (const { address, amount } of payment.destinations) {
    const index = indexOf(address);
    if (index !== undefined && isReturned(index, payment.account)) at(index.minor).balance += amount;
  }
}
