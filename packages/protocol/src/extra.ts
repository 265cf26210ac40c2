import type { Reader } from "./codec/bytes-io.ts";
import { BadBytes, Reader as ByteReader, Writer } from "./codec/bytes-io.ts";
import type { Codec, TypeOf } from "./codec/wire.ts";
import { bytes32, decode, lenientSize, list, refine, struct, union, varint64 } from "./codec/wire.ts";

/**
 * The `extra` bytes of a transaction: tagged fields by convention, which no rule checks. The fields are read up to the
 * first one that is damaged, as in the original. Source: cryptonote_basic/tx_extra.h; cryptonote_format_utils.cpp
 * `parse_tx_extra`, `sort_tx_extra`.
 */
const MAX_PADDING = 255;
/** Source: tx_extra.h `TX_EXTRA_NONCE_MAX_COUNT`. */
export const MAX_NONCE_BYTES = 255;

const text: Codec<Uint8Array> = {
  read: (reader) => reader.readBytes(lenientSize.read(reader)),
  write: (writer, value) => {
    writer.writeVarint(value.length);
    writer.writeBytes(value);
  },
};

/** Zeros up to the end; `size` counts the tag. */
const paddingSize: Codec<number> = {
  read: (reader) => {
    const zeros = reader.readBytes(reader.remaining);
    if (zeros.some((byte) => byte !== 0)) throw reader.bad("padding is not zero");
    if (zeros.length + 1 > MAX_PADDING) throw reader.bad("padding too long");
    return zeros.length + 1;
  },
  write: (writer, size) => {
    if (!(size >= 1 && size <= MAX_PADDING)) throw new RangeError("padding too long");
    writer.writeBytes(new Uint8Array(size - 1));
  },
};

const mergeMiningContent = struct().field("depth", varint64).field("merkleRoot", bytes32);
const mergeMining: Codec<TypeOf<typeof mergeMiningContent>> = {
  read: (reader) => decode(mergeMiningContent, text.read(reader)),
  write: (writer, value) => {
    const content = new Writer(48);
    mergeMiningContent.write(content, value);
    text.write(writer, content.finish());
  },
};

const extraField = union({
  padding: [0x00, struct().field("size", paddingSize)],
  /** The transaction's public key, from which one-time keys are derived. */
  publicKey: [0x01, struct().field("key", bytes32)],
  nonce: [
    0x02,
    struct().field(
      "nonce",
      refine(text, ({ length }) => length <= MAX_NONCE_BYTES, "nonce too long"),
    ),
  ],
  mergeMining: [0x03, mergeMining],
  /** A public key per output, when one of several receivers is a subaddress. */
  additionalPublicKeys: [0x04, struct().field("keys", list(bytes32, lenientSize))],
  minergate: [0xde, struct().field("data", text)],
});
export type ExtraField = TypeOf<typeof extraField>;

function readField(reader: Reader): ExtraField | undefined {
  try {
    return extraField.read(reader);
  } catch (error) {
    if (error instanceof BadBytes) return undefined;
    throw error;
  }
}

/** The fields up to the first damaged one, and the bytes from there on (empty when all are valid). */
export function splitExtra(extra: Uint8Array): { fields: ExtraField[]; unparsed: Uint8Array } {
  const reader = new ByteReader(new Uint8Array(extra));
  const fields: ExtraField[] = [];
  let parsed = 0;
  while (parsed < extra.length) {
    const field = readField(reader);
    if (field === undefined) break;
    fields.push(field);
    parsed = reader.position;
  }
  return { fields, unparsed: extra.slice(parsed) };
}

/** The fields up to the first damaged one; never throws. */
export function parseExtra(extra: Uint8Array): ExtraField[] {
  return splitExtra(extra).fields;
}

/** Offsets of the public keys (32 bytes each) of an extra. */
type ExtraKeys = { readonly publicKeys: number[]; readonly additionalKeys: number[] };

/** Tags of the fields that nearly every transaction has. */
const PUBLIC_KEY_TAG = 0x01;
const NONCE_TAG = 0x02;

/**
 * Adds the offsets of the transaction public keys and the additional ones in the bytes from `start` to `end`: the keys
 * that `txPublicKeys` and `additionalPublicKeys` return for the fields of `parseExtra`. Never throws.
 */
export function findExtraKeys(
  bytes: Uint8Array,
  { start, end }: { readonly start: number; readonly end: number },
  keys: ExtraKeys,
): void {
  let hasAdditional = false;
  for (let at = start; at < end; ) {
    // These two tags are handled here for speed: a scan reads very many.
    const next =
      bytes[at] === PUBLIC_KEY_TAG ? at + 33 : bytes[at] === NONCE_TAG ? nonceEnd(bytes, at) : undefined;
    if (next !== undefined && next <= end) {
      if (bytes[at] === PUBLIC_KEY_TAG) keys.publicKeys.push(at + 1);
      at = next;
      continue;
    }
    const reader = new ByteReader(bytes.subarray(at, end));
    const field = readField(reader);
    if (field === undefined) return;
    at += reader.position;
    if (field.type !== "additionalPublicKeys" || hasAdditional) continue;
    hasAdditional = true;
    const first = at - 32 * field.keys.length;
    for (let i = 0; i < field.keys.length; i++) keys.additionalKeys.push(first + 32 * i);
  }
}

/** End of a nonce whose length is one byte; undefined for others. */
function nonceEnd(bytes: Uint8Array, at: number): number | undefined {
  const length = bytes[at + 1];
  return length === undefined || length >= 0x80 ? undefined : at + 2 + length;
}

const order: readonly ExtraField["type"][] = [
  "publicKey",
  "additionalPublicKeys",
  "nonce",
  "mergeMining",
  "minergate",
  "padding",
];

/**
 * Serializes the fields, with their kinds in the order that wallets must keep. Throws `RangeError` for fields that are
 * too long.
 */
export function writeExtra(fields: readonly ExtraField[]): Uint8Array {
  const writer = new Writer(64);
  for (const type of order) {
    for (const field of fields) if (field.type === type) extraField.write(writer, field);
  }
  return writer.finish();
}

function firstOf<K extends ExtraField["type"]>(fields: readonly ExtraField[], type: K) {
  return fields.find((field): field is Extract<ExtraField, { type: K }> => field.type === type);
}

/** All transaction public keys (32 bytes each); wallets try every one, although there is rarely more than one. */
export function txPublicKeys(fields: readonly ExtraField[]): Uint8Array[] {
  return fields.flatMap((field) => (field.type === "publicKey" ? [field.key] : []));
}

/** The transaction public key (32 bytes). */
export function txPublicKey(fields: readonly ExtraField[]): Uint8Array | undefined {
  return firstOf(fields, "publicKey")?.key;
}

/** Public keys (32 bytes each) by output index; empty when there are none. */
export function additionalPublicKeys(fields: readonly ExtraField[]): Uint8Array[] {
  return firstOf(fields, "additionalPublicKeys")?.keys ?? [];
}

/** The first nonce: payment id, or a miner's own bytes. */
export function extraNonce(fields: readonly ExtraField[]): Uint8Array | undefined {
  return firstOf(fields, "nonce")?.nonce;
}

const PAYMENT_ID_TAG = 0x00;
const ENCRYPTED_PAYMENT_ID_TAG = 0x01;

function taggedNonce(fields: readonly ExtraField[], tag: number, length: number): Uint8Array | undefined {
  const nonce = extraNonce(fields);
  return nonce?.length === length + 1 && nonce[0] === tag ? nonce.slice(1) : undefined;
}

/** Payment id (8 bytes) as it is stored: encrypted for the receiver. */
export function encryptedPaymentId(fields: readonly ExtraField[]): Uint8Array | undefined {
  return taggedNonce(fields, ENCRYPTED_PAYMENT_ID_TAG, 8);
}

/** Payment id (32 bytes) of the old, unencrypted kind. */
export function longPaymentId(fields: readonly ExtraField[]): Uint8Array | undefined {
  return taggedNonce(fields, PAYMENT_ID_TAG, 32);
}

/**
 * Nonce that contains a payment id: 8 bytes encrypted, or 32 bytes unencrypted. Throws `RangeError` for other lengths.
 */
export function paymentIdNonce(paymentId: Uint8Array): ExtraField {
  if (paymentId.length !== 8 && paymentId.length !== 32)
    throw new RangeError("a payment id has 8 or 32 bytes");
  const tag = paymentId.length === 8 ? ENCRYPTED_PAYMENT_ID_TAG : PAYMENT_ID_TAG;
  return { type: "nonce", nonce: new Uint8Array([tag, ...paymentId]) };
}
