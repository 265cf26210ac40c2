/** Ledgers with many payments, made without a chain. */
import { createHash } from "node:crypto";
import { toHex } from "@anulo/protocol";
import type { WalletChange } from "../src/changes.ts";
import { createAccount, createLedger, type Ledger } from "../src/ledger/ledger.ts";
import type { OutgoingPayment, ScannedTransaction } from "../src/state.ts";

export type HistorySize = { readonly receipts: number; readonly payments: number };

const NOTHING = new Uint8Array(32);
const RECEIPTS_PER_BLOCK = 10;
/** As long as an address of the main network. */
const ADDRESS = "4".padEnd(95, "A");

/** 32 bytes that look random, the same for the same name. */
export const idOf = (name: string): Uint8Array => new Uint8Array(createHash("sha256").update(name).digest());

const addressOf = (i: number) => ({ major: i % 5, minor: i % 1000 });

/** A wallet with receipts in every block and final payments spread over all of them. */
export function largeLedger({ receipts, payments }: HistorySize): Ledger {
  const ledger = createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
  const { state } = ledger;
  for (let major = 1; major < 5; major++) state.accounts.push(createAccount(""));
  for (let i = 0; i < receipts; i++) {
    const paymentId = new Uint8Array(32);
    if (i % 2 === 0) paymentId.set(idOf(`id ${i % 500}`).subarray(0, 8));
    const amount = BigInt(1_000_000_000 + i);
    state.incoming.push({
      txHash: idOf(`in ${i}`),
      paymentId,
      amount,
      amounts: [amount],
      fee: 30_660_000n,
      height: 1 + Math.floor(i / RECEIPTS_PER_BLOCK),
      timestamp: 1_700_000_000 + i,
      unlockTime: 0n,
      coinbase: false,
      subaddress: addressOf(i),
    });
  }
  state.height = 1 + Math.ceil(receipts / RECEIPTS_PER_BLOCK);
  for (let i = 0; i < payments; i++) {
    const payment = paymentOf(i, { height: 1 + Math.floor((i * state.height) / (payments + 1)) });
    state.outgoing.set(toHex(payment.txHash), payment);
  }
  return ledger;
}

/** A payment of two inputs and two outputs. */
export function paymentOf(i: number, values: Partial<OutgoingPayment> = {}): OutgoingPayment {
  return {
    txHash: idOf(`out ${i}`),
    state: "confirmed",
    blob: undefined,
    amountIn: 2_000_000_000_000n + BigInt(i),
    amountOut: 1_999_969_340_000n + BigInt(i),
    change: 999_969_340_000n,
    destinations: [{ address: ADDRESS, amount: 1_000_000_000_000n }],
    paymentId: NOTHING,
    account: i % 5,
    subaddressIndices: [i % 1000],
    keyImages: [idOf(`first ${i}`), idOf(`second ${i}`)],
    unlockTime: 0n,
    createdAt: 1_700_000_000 + i,
    timestamp: 1_700_000_100 + i,
    height: 1,
    isSeen: true,
    ...values,
  };
}

/** A transaction that pays one address of the wallet. */
export function paysWallet(name: string, height: number): ScannedTransaction {
  const output = {
    outputIndex: 0,
    globalIndex: 0n,
    amount: 5n,
    mask: NOTHING,
    rct: true,
    oneTimeKey: idOf(`key ${name}`),
    txPublicKey: NOTHING,
    keyImage: idOf(`image ${name}`),
    subaddress: { major: 0, minor: 1 },
  };
  return {
    txHash: idOf(name),
    coinbase: false,
    height,
    timestamp: 1_700_000_000,
    unlockTime: 0n,
    fee: 1n,
    publicAmountOut: 0n,
    txSize: 1500,
    paymentId: NOTHING,
    received: [output],
    inputs: [],
  };
}

export function blocksWith(
  height: number,
  count: number,
  ...transactions: ScannedTransaction[]
): WalletChange {
  return {
    kind: "blocks",
    fromHeight: height,
    count,
    ids: Array.from({ length: count }, (_, i) => idOf(`block ${height + i}`)),
    lastBlockReward: 600_000_000_000n,
    transactions,
  };
}
