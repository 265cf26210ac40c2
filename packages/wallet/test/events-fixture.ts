/** Changes of a wallet as scans, the pool and payments bring them. */
import { toHex } from "@anulo/protocol";
import type { WalletChange } from "../src/changes.ts";
import type { OutgoingPayment, PoolPayment, ScannedOutput, ScannedTransaction } from "../src/state.ts";

export const bytes = (value: number) => new Uint8Array(32).fill(value);
const NOTHING = new Uint8Array(32);
export const tx = (id: number) => toHex(bytes(id));

/** An output whose key image is that of its key plus 100, or unknown. */
export function output(
  key: number,
  amount: bigint,
  { minor = 1, major = 0, isBlind = false } = {},
): ScannedOutput {
  return {
    outputIndex: 0,
    globalIndex: BigInt(key),
    amount,
    mask: NOTHING,
    rct: true,
    oneTimeKey: bytes(key),
    txPublicKey: NOTHING,
    keyImage: isBlind ? undefined : bytes(key + 100),
    subaddress: { major, minor },
  };
}

export function transaction(
  id: number,
  height: number,
  parts: { received?: ScannedOutput[]; spends?: number[]; unlockTime?: bigint },
): ScannedTransaction {
  const { received = [], spends = [], unlockTime = 0n } = parts;
  return {
    txHash: bytes(id),
    coinbase: false,
    height,
    timestamp: 1_000_000 + height,
    unlockTime,
    fee: 5n,
    publicAmountOut: 0n,
    txSize: 0,
    paymentId: NOTHING,
    received,
    inputs: spends.map((key) => ({ keyImage: bytes(key + 100), amount: 0n })),
  };
}

export function blocks(
  fromHeight: number,
  count: number,
  ...transactions: ScannedTransaction[]
): WalletChange {
  return { kind: "blocks", fromHeight, count, ids: [], lastBlockReward: 600n, transactions };
}

export function waiting(id: number, amount: bigint, doubleSpendSeen = false): PoolPayment {
  return {
    txHash: bytes(id),
    paymentId: NOTHING,
    amount,
    amounts: [amount],
    fee: 5n,
    height: 0,
    timestamp: 1_000_000,
    unlockTime: 0n,
    coinbase: false,
    subaddress: { major: 0, minor: 1 },
    doubleSpendSeen,
  };
}

export function signed(id: number, spends: number): OutgoingPayment {
  return {
    txHash: bytes(id),
    state: "signed",
    blob: Uint8Array.of(1),
    amountIn: 100n,
    amountOut: 95n,
    change: 60n,
    destinations: [{ address: "somebody", amount: 35n }],
    paymentId: NOTHING,
    account: 0,
    subaddressIndices: [1],
    keyImages: [bytes(spends + 100)],
    unlockTime: 0n,
    createdAt: 1_000_000,
    timestamp: 1_000_000,
    height: 0,
  };
}

export const head = { key: "order 7", asked: bytes(1), method: "transfer", createdAt: 1_000_000 };
