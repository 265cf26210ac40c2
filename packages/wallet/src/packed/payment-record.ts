/** A payment made, in a block and not to be sent again, as a record of some 240 bytes. */
import type { OutgoingPayment } from "../payment.ts";
import { kindOfId, readPaymentId, writePaymentId } from "./receipt-record.ts";
import type { ReceiptFilter } from "./receipts.ts";
import { RecordReader, type RecordWriter } from "./record-bytes.ts";

const KEY_BYTES = 32;
/** Beside those of `kindOfId`. */
const SEEN = 1;
const UNDONE = 2;

const HASH_AT = 1;

/** A payment that is kept as a record. */
export type SettledPayment = OutgoingPayment & { readonly state: "confirmed"; readonly blob: undefined };

export function isSettled(payment: OutgoingPayment): payment is SettledPayment {
  return payment.state === "confirmed" && payment.blob === undefined;
}

/** Writes the next record. Throws `RangeError` if a value is not one that a chain can contain. */
export function writePayment(out: RecordWriter, payment: SettledPayment): void {
  const { txHash, paymentId, keyImages, subaddressIndices, destinations } = payment;
  if ([txHash, paymentId, ...keyImages].some(({ length }) => length !== KEY_BYTES))
    throw new RangeError("not the ids of a payment");
  const kind = kindOfId(paymentId);
  out.byte((payment.isSeen === true ? SEEN : 0) | (payment.isUndone === true ? UNDONE : 0) | kind);
  out.bytes(txHash);
  out.number(payment.account);
  writeAll(out, subaddressIndices, (minor) => out.number(minor));
  out.number(payment.height);
  out.number(payment.timestamp);
  out.number(payment.createdAt);
  for (const amount of [payment.amountIn, payment.amountOut, payment.change, payment.unlockTime])
    out.amount(amount);
  writePaymentId(out, paymentId, kind);
  writeAll(out, keyImages, (image) => out.bytes(image));
  writeAll(out, destinations, ({ address, amount }) => {
    out.text(address);
    out.amount(amount);
  });
}

export function readPayment(chunk: Uint8Array, at: number): SettledPayment {
  const record = new RecordReader(chunk, at);
  const flags = record.byte();
  const txHash = record.bytes(KEY_BYTES);
  const account = record.number();
  const subaddressIndices = readAll(record, () => record.number());
  const [height, timestamp, createdAt] = [record.number(), record.number(), record.number()];
  const [amountIn, amountOut] = [record.amount(), record.amount()];
  const [change, unlockTime] = [record.amount(), record.amount()];
  const paymentId = readPaymentId(record, flags);
  const keyImages = readAll(record, () => record.bytes(KEY_BYTES));
  const destinations = readAll(record, () => ({ address: record.text(), amount: record.amount() }));
  return {
    txHash,
    state: "confirmed",
    blob: undefined,
    amountIn,
    amountOut,
    change,
    destinations,
    paymentId,
    account,
    subaddressIndices,
    keyImages,
    unlockTime,
    createdAt,
    timestamp,
    height,
    ...((flags & UNDONE) !== 0 && { isUndone: true }),
    ...((flags & SEEN) !== 0 && { isSeen: true }),
  };
}

/** Index of the byte after a record. */
export function endOfPayment(chunk: Uint8Array, at: number): number {
  const record = new RecordReader(chunk, at + HASH_AT + KEY_BYTES);
  const skip = (count: number) => {
    for (let i = 0; i < count; i++) record.skip();
  };
  record.skip();
  skip(record.number());
  skip(3 + 4);
  readPaymentId(record, chunk[at]!);
  for (let i = record.number(); i > 0; i--) record.bytes(KEY_BYTES);
  for (let i = record.number(); i > 0; i--) {
    record.bytes(record.number());
    record.skip();
  }
  return record.at;
}

/** Height and unlock time of a record, without the rest. */
export function readPaymentLock(
  chunk: Uint8Array,
  at: number,
): Pick<OutgoingPayment, "height" | "unlockTime"> {
  const record = new RecordReader(chunk, at + HASH_AT + KEY_BYTES);
  record.skip();
  for (let i = record.number(); i > 0; i--) record.skip();
  const height = record.number();
  for (let i = 0; i < 5; i++) record.skip();
  return { height, unlockTime: record.amount() };
}

/** Which addresses paid, without the rest of the record. */
export function readPayer(
  chunk: Uint8Array,
  at: number,
): Pick<OutgoingPayment, "account" | "subaddressIndices"> {
  const record = new RecordReader(chunk, at + HASH_AT + KEY_BYTES);
  return { account: record.number(), subaddressIndices: readAll(record, () => record.number()) };
}

/** Whether one of these addresses has paid; no account stands for all, no address for all of the account. */
export function isFrom(
  payer: Pick<OutgoingPayment, "account" | "subaddressIndices">,
  { account, minors }: Pick<ReceiptFilter, "account" | "minors">,
): boolean {
  if (account !== undefined && account !== payer.account) return false;
  return minors.size === 0 || payer.subaddressIndices.some((minor) => minors.has(minor));
}

/** The transaction id of a record, 32 bytes; not a copy. */
export const hashIn = (chunk: Uint8Array, at: number): Uint8Array =>
  chunk.subarray(at + HASH_AT, at + HASH_AT + KEY_BYTES);

function writeAll<T>(out: RecordWriter, items: readonly T[], write: (item: T) => void): void {
  out.number(items.length);
  for (const item of items) write(item);
}

function readAll<T>(record: RecordReader, read: () => T): T[] {
  return Array.from({ length: record.number() }, read);
}
