/** Small outputs, transactions and payments of a ledger, named by numbers. */
import { accountBalance } from "../src/history/balance.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";
import type { OutgoingPayment, ScannedOutput, ScannedTransaction } from "../src/state.ts";
import { bytes, output as outputOf, transaction as transactionOf } from "./events-fixture.ts";

export { bytes };

const NOTHING = new Uint8Array(32);

export function output(values: {
  key: number;
  amount: bigint;
  major?: number;
  minor?: number;
}): ScannedOutput {
  const { key, amount, major = 0, minor = 0 } = values;
  return outputOf(key, amount, { major, minor });
}

export function transaction(
  id: number,
  height: number,
  { fee = 0n, ...parts }: { received?: ScannedOutput[]; spends?: number[]; fee?: bigint },
): ScannedTransaction {
  return { ...transactionOf(id, height, parts), fee };
}

export function mine(ledger: Ledger, height: number, ...transactions: ScannedTransaction[]): void {
  applyChange(ledger, {
    kind: "blocks",
    fromHeight: height,
    count: 1,
    ids: [bytes(height)],
    lastBlockReward: 600n,
    transactions,
  });
}

export function newLedger(): Ledger {
  return createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
}

export const now = (height: number) => ({ network: "regtest" as const, height, seconds: 2_000_000 });
export function balance(ledger: Ledger, height: number, account = 0) {
  const { balance, unlocked } = accountBalance(ledger.state, {
    account,
    strict: false,
    now: now(height),
    indexOf: () => undefined,
  });
  return { balance, unlocked };
}

export function payment(id: number, values: Partial<OutgoingPayment> = {}): OutgoingPayment {
  return {
    txHash: bytes(id),
    state: "signed",
    blob: Uint8Array.of(1, 2, 3),
    amountIn: 100n,
    amountOut: 95n,
    change: 60n,
    destinations: [{ address: "somebody", amount: 35n }],
    paymentId: NOTHING,
    account: 0,
    subaddressIndices: [0],
    keyImages: [bytes(101)],
    unlockTime: 0n,
    createdAt: 1_999_000,
    timestamp: 1_999_000,
    height: 0,
    ...values,
  };
}
