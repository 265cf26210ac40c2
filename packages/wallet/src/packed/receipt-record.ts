/** A received payment as a record of some 60 bytes. */
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import type { IncomingPayment } from "../payment.ts";
import { RecordReader, type RecordWriter } from "./record-bytes.ts";

const HASH_BYTES = 32;
const SHORT_ID_BYTES = 8;

const COINBASE = 1;
/** The amount of its only output is that of the payment. */
const ONE_OUTPUT = 2;
const SHORT_ID = 4;
const LONG_ID = 8;

/** Index of the transaction id in a record, and of the address after it. */
const HASH_AT = 1;
const ADDRESS_AT = HASH_AT + HASH_BYTES;

/** Writes the next record. Throws `RangeError` if a value is not one that a chain can contain. */
export function writeReceipt(out: RecordWriter, payment: IncomingPayment): void {
  const { txHash, paymentId, amount, amounts, coinbase, subaddress } = payment;
  if (txHash.length !== HASH_BYTES || paymentId.length !== HASH_BYTES)
    throw new RangeError("not the ids of a payment");
  const isOne = amounts.length === 1 && amounts[0] === amount;
  const kind = kindOfId(paymentId);
  out.byte((coinbase ? COINBASE : 0) | (isOne ? ONE_OUTPUT : 0) | kind);
  out.bytes(txHash);
  out.number(subaddress.major);
  out.number(subaddress.minor);
  out.number(payment.height);
  out.number(payment.timestamp);
  out.amount(payment.unlockTime);
  out.amount(amount);
  out.amount(payment.fee);
  writePaymentId(out, paymentId, kind);
  if (isOne) return;
  out.number(amounts.length);
  for (const each of amounts) out.amount(each);
}

export function readReceipt(chunk: Uint8Array, at: number): IncomingPayment {
  const record = new RecordReader(chunk, at);
  const flags = record.byte();
  const txHash = record.bytes(HASH_BYTES);
  const subaddress = { major: record.number(), minor: record.number() };
  const height = record.number();
  const timestamp = record.number();
  const unlockTime = record.amount();
  const amount = record.amount();
  const fee = record.amount();
  const paymentId = readPaymentId(record, flags);
  const amounts =
    (flags & ONE_OUTPUT) === 0 ? Array.from({ length: record.number() }, () => record.amount()) : [amount];
  const coinbase = (flags & COINBASE) !== 0;
  return { txHash, paymentId, amount, amounts, fee, height, timestamp, unlockTime, coinbase, subaddress };
}

/** The address of a record, without the rest. */
export function readReceiver(chunk: Uint8Array, at: number): SubaddressIndex {
  const record = new RecordReader(chunk, at + ADDRESS_AT);
  return { major: record.number(), minor: record.number() };
}

/** Height and unlock time of a record. */
export function readLock(chunk: Uint8Array, at: number): { height: number; unlockTime: bigint } {
  const record = new RecordReader(chunk, at + ADDRESS_AT);
  record.number();
  record.number();
  const height = record.number();
  record.number();
  return { height, unlockTime: record.amount() };
}

export const hasPaymentId = (chunk: Uint8Array, at: number): boolean =>
  (chunk[at]! & (SHORT_ID | LONG_ID)) !== 0;

/** The payment id of a record, 32 bytes. */
export function readReceiptId(chunk: Uint8Array, at: number): Uint8Array {
  const record = new RecordReader(chunk, at + ADDRESS_AT);
  for (let i = 0; i < 4; i++) record.number();
  for (let i = 0; i < 3; i++) record.amount();
  return readPaymentId(record, chunk[at]!);
}

/** Whether the record's transaction is the one whose id is at an index of other bytes. */
export function hasHash(chunk: Uint8Array, at: number, hash: Uint8Array, hashAt = 0): boolean {
  for (let i = 0; i < HASH_BYTES; i++) if (chunk[at + HASH_AT + i] !== hash[hashAt + i]) return false;
  return true;
}

/** Index of the transaction id in the chunk. */
export const hashOffset = (at: number): number => at + HASH_AT;

/** Flags that say how long a payment id is without the zeros at its end. */
export function kindOfId(paymentId: Uint8Array): number {
  if (paymentId.every((byte) => byte === 0)) return 0;
  return paymentId.subarray(SHORT_ID_BYTES).every((byte) => byte === 0) ? SHORT_ID : LONG_ID;
}

export function writePaymentId(out: RecordWriter, paymentId: Uint8Array, kind: number): void {
  if (kind === SHORT_ID) out.bytes(paymentId.subarray(0, SHORT_ID_BYTES));
  else if (kind === LONG_ID) out.bytes(paymentId);
}

export function readPaymentId(record: RecordReader, flags: number): Uint8Array {
  if ((flags & LONG_ID) !== 0) return record.bytes(HASH_BYTES);
  const paymentId = new Uint8Array(HASH_BYTES);
  if ((flags & SHORT_ID) !== 0) paymentId.set(record.bytes(SHORT_ID_BYTES));
  return paymentId;
}
