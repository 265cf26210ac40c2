/**
 * The cache of the original program (`<name>`), as version 0.18 writes it:
 *
 * iv (8) · varint length · chacha20(magic · version · sections)
 *
 * Only the cache contains what cannot be read from the chain again: transaction keys, destinations, notes, labels,
 * addresses.
 * Source: wallet2.h `cache_file_data`, `transfer_details`, `background_sync_data_t` and `BEGIN_SERIALIZE_OBJECT` of
 * `wallet2`; wallet2.cpp `load_wallet_cache`, `setup_keys`.
 */

import { setImmediate } from "node:timers/promises";
import { chacha20, keccak256, wipe } from "@anulo/crypto";
import {
  BadBytes,
  byteString,
  bytes,
  bytes32,
  type Codec,
  concatBytes,
  encode,
  equalBytes,
  list,
  prunedTransaction,
  Reader,
  refine,
  struct,
  type TypeOf,
  transactionPrefix,
  u32,
  varint,
  varint64,
  Writer,
} from "@anulo/protocol";
import { destination, flag, uint64, version } from "../transfer/metadata.ts";
import { type EncryptedFile, encryptedFile } from "./encrypted-file.ts";

const MAGIC = new TextEncoder().encode("monero wallet cache");
/** Maximum size of a cache, enough for some hundred thousand transfers. */
export const MAX_CACHE_BYTES = 512 * 1024 * 1024;
/** Number of items read before yielding to the event loop: a few milliseconds. */
const ITEMS_AT_ONCE = 200;
/** Number of items written before yielding to the event loop: a payment has addresses to be parsed, some 50 µs each. */
const ITEMS_A_PIECE = 25;
const PIECE_BYTES = 16 * 1024;
/** Source: cryptonote_config.h HASH_KEY_WALLET_CACHE. */
const CACHE_KEY_TAIL = 0x8d;
/** For a background wallet. Source: cryptonote_config.h HASH_KEY_BACKGROUND_CACHE. */
const BACKGROUND_CACHE_KEY_TAIL = 0x8e;

/** The key of the cache beside a keys file, 32 bytes; `fileKey`: the key of the keys file. */
export function cacheKeyOf(fileKey: Uint8Array): Uint8Array {
  return keyFrom(fileKey, CACHE_KEY_TAIL);
}

/** The key of the cache beside a background wallet's keys file, from the key of that file. */
export function backgroundCacheKeyOf(fileKey: Uint8Array): Uint8Array {
  return keyFrom(fileKey, BACKGROUND_CACHE_KEY_TAIL);
}

/** Derives a key from another one, with a byte for its purpose. Source: wallet2.cpp `derive_cache_key`. */
export function keyFrom(key: Uint8Array, purpose: number): Uint8Array {
  const seed = concatBytes(key, Uint8Array.of(purpose));
  const made = keccak256(seed);
  wipe(seed);
  return made;
}

/** The original encodes a pair as an array of two. */
function pair<K, V>(key: Codec<K>, value: Codec<V>): Codec<{ key: K; value: V }> {
  const pairSize = refine(varint, (size) => size === 2, "not a pair");
  return struct().field("pairSize", pairSize).field("key", key).field("value", value) as Codec<{
    key: K;
    value: V;
  }>;
}

const subaddress = struct().field("major", u32).field("minor", u32);
const rings = list(pair(bytes32, list(varint64)));

const signerInfo = struct()
  .field("signer", bytes32)
  .field("nonces", list(bytes(64)))
  .field("partialKeyImages", list(bytes32));

const transfer = struct()
  .field("height", uint64)
  .field("prefix", transactionPrefix)
  .field("txHash", bytes32)
  .field("outputIndex", uint64)
  .field("globalIndex", uint64)
  .field("spent", flag)
  .field("frozen", flag)
  .field("spentHeight", uint64)
  .field("keyImage", bytes32)
  .field("mask", bytes32)
  .field("amount", uint64)
  .field("rct", flag)
  .field("keyImageKnown", flag)
  .field("keyImageRequest", flag)
  .field("keyIndex", uint64)
  .field("subaddress", subaddress)
  .field("keyImagePartial", flag)
  .field("multisigNonces", list(bytes32))
  .field("multisigInfos", list(signerInfo))
  .field("uses", list(pair(varint64, bytes32)));

const payment = struct()
  .field("version", version(0))
  .field("txHash", bytes32)
  .field("amount", varint64)
  .field("amounts", list(varint64))
  .field("fee", varint64)
  .field("height", varint64)
  .field("unlockTime", varint64)
  .field("timestamp", varint64)
  .field("coinbase", flag)
  .field("subaddress", subaddress);

const poolPayment = struct()
  .field("version", version(0))
  .field("payment", payment)
  .field("doubleSpendSeen", flag);

const unconfirmed = struct()
  .field("version", version(1))
  .field("prefix", transactionPrefix)
  .field("amountIn", varint64)
  .field("amountOut", varint64)
  .field("change", varint64)
  .field("sentTime", varint64)
  .field("destinations", list(destination))
  .field("paymentId", bytes32)
  .field("state", varint)
  .field("timestamp", varint64)
  .field("account", varint)
  .field("subaddressIndices", list(varint))
  .field("rings", rings);

const confirmed = struct()
  .field("version", version(1))
  .field("prefix", transactionPrefix)
  .field("amountIn", varint64)
  .field("amountOut", varint64)
  .field("change", varint64)
  .field("height", varint64)
  .field("destinations", list(destination))
  .field("paymentId", bytes32)
  .field("timestamp", varint64)
  .field("unlockTime", varint64)
  .field("account", varint)
  .field("subaddressIndices", list(varint))
  .field("rings", rings);

const addressBookRow = struct()
  .field("version", version(0))
  .field("spendPublic", bytes32)
  .field("viewPublic", bytes32)
  .field("paymentId", bytes(8))
  .field("description", byteString)
  .field("isSubaddress", flag)
  .field("hasPaymentId", flag);

/** Found by a wallet that scanned in the background, with its view key alone. */
const backgroundTransaction = struct()
  .field("version", version(0))
  .field("position", varint64)
  .field("transaction", prunedTransaction)
  .field("globalIndices", list(varint64))
  .field("height", varint64)
  .field("timestamp", varint64)
  .field("doubleSpendSeen", flag);

/** Items that need not all be in memory at once; an array is one example. */
export type Items<T> = Iterable<T> & { readonly length: number };

/** A section of the cache: read with pauses for other tasks, written in short pieces. */
type Section<T, W = T> = {
  read(reader: Reader): Promise<T>;
  pieces(value: W): Generator<Uint8Array>;
};

const one = <T>(codec: Codec<T>): Section<T> => ({
  read: async (reader) => codec.read(reader),
  *pieces(value) {
    yield encode(codec, value);
  },
});

const many = <T>(element: Codec<T>): Section<T[], Items<T>> => ({
  read: async (reader) => {
    const count = varint.read(reader);
    if (count > reader.remaining) throw reader.bad(`count ${count} above the bytes left`);
    const values: T[] = [];
    for (let i = 0; i < count; i++) {
      if (i % ITEMS_AT_ONCE === ITEMS_AT_ONCE - 1) await setImmediate();
      values.push(element.read(reader));
    }
    return values;
  },
  *pieces(values) {
    yield encode(varint, values.length);
    // The buffer is reused, so that secrets do not accumulate in memory.
    const memory = new Uint8Array(PIECE_BYTES);
    let writer = new Writer(memory);
    let count = 0;
    try {
      for (const value of values) {
        element.write(writer, value);
        count += 1;
        if (count % ITEMS_A_PIECE !== 0) continue;
        yield writer.finish();
        writer = new Writer(memory);
      }
      yield writer.finish();
      if (count !== values.length) throw new RangeError("as many items as were counted");
    } finally {
      wipe(memory);
    }
  },
});

/** The sections, in the order of the file. */
const sections = {
  blocks: one(struct().field("version", version(0)).field("offset", varint64).field("genesis", bytes32)),
  blockIds: many(bytes32),
  transfers: many(transfer),
  address: one(struct().field("spendPublic", bytes32).field("viewPublic", bytes32)),
  keyImages: many(pair(bytes32, varint64)),
  unconfirmed: many(pair(bytes32, unconfirmed)),
  payments: many(pair(bytes32, payment)),
  txKeys: many(pair(bytes32, bytes32)),
  confirmed: many(pair(bytes32, confirmed)),
  notes: many(pair(bytes32, byteString)),
  poolPayments: many(pair(bytes32, poolPayment)),
  oneTimeKeys: many(pair(bytes32, varint64)),
  addressBook: many(addressBookRow),
  seenInPool: many(bytes32),
  seenInPoolBefore: many(bytes32),
  subaddresses: many(pair(bytes32, subaddress)),
  labels: many(list(byteString)),
  additionalTxKeys: many(pair(bytes32, list(bytes32))),
  attributes: many(pair(byteString, byteString)),
  accountTags: one(pair(list(pair(byteString, byteString)), list(byteString))),
  ringsSaved: one(flag),
  lastBlockReward: one(uint64),
  transactionsOnDevice: many(pair(bytes32, byteString)),
  lastDeviceSync: one(uint64),
  coldKeyImages: many(pair(bytes32, bytes32)),
  rpcClientKey: one(bytes32),
  refreshedFromNode: one(flag),
  background: one(struct().field("version", version(0)).field("isRefreshed", flag).field("height", uint64)),
  backgroundTransactions: many(pair(bytes32, backgroundTransaction)),
  backgroundSettings: one(
    struct()
      .field("refreshFromHeight", uint64)
      .field("lookaheadMajor", varint64)
      .field("lookaheadMinor", varint64)
      .field("refreshType", varint64),
  ),
} as const;

/** Sections that later versions of the cache have added at its end; all their data can be read from the chain again. */
const since = {
  refreshedFromNode: 1,
  background: 2,
  backgroundTransactions: 2,
  backgroundSettings: 2,
} as const;
/** The version that 0.18.5.3 writes. */
const NEWEST_VERSION = 2;

function sectionsOf(cacheVersion: number): (readonly [string, Section<unknown>])[] {
  const added: Record<string, number> = since;
  return Object.entries(sections)
    .filter(([name]) => cacheVersion >= (added[name] ?? 0))
    .map(([name, section]) => [name, section as Section<unknown>]);
}

type ValueOf<S> = S extends Section<infer T, infer _> ? T : never;
type WrittenOf<S> = S extends Section<infer _, infer W> ? W : never;
type Added = keyof typeof since;
type Sections = { -readonly [K in keyof typeof sections]: ValueOf<(typeof sections)[K]> };
type WrittenSections = { readonly [K in keyof typeof sections]: WrittenOf<(typeof sections)[K]> };
/** The content of a cache; `version` is 0 to 2, and determines which of the added sections it has. */
export type OriginalCache = { readonly version: number } & Omit<Sections, Added> &
  Partial<Pick<Sections, Added>>;
/** The content of a cache to be written. */
export type CacheToWrite = { readonly version: number } & Omit<WrittenSections, Added> &
  Partial<Pick<WrittenSections, Added>>;
export type CachedDestination = TypeOf<typeof destination>;

function readFrame(file: Uint8Array): EncryptedFile {
  if (file.length > MAX_CACHE_BYTES) throw new BadBytes("too large");
  return encryptedFile.read(new Reader(file));
}

/** Identifies one version of the cache file (hex): its iv is new each time. Throws `BadBytes`. */
export function cacheId(file: Uint8Array): string {
  return Buffer.from(readFrame(file).iv).toString("hex");
}

/** Reads a cache; the caller wipes `key` and the secrets in the result. Throws `BadBytes` for any other file. */
export async function readOriginalCache(file: Uint8Array, key: Uint8Array): Promise<OriginalCache> {
  const { iv, encrypted } = readFrame(file);
  const reader = new Reader(chacha20(encrypted, key, iv));
  if (reader.remaining < MAGIC.length || !equalBytes(reader.readBytes(MAGIC.length), MAGIC))
    throw new BadBytes("not a cache of version 0.18 under this password");
  const cacheVersion = varint.read(reader);
  if (cacheVersion > NEWEST_VERSION) throw reader.bad("unknown version");
  const cache: Record<string, unknown> = { version: cacheVersion };
  for (const [name, section] of sectionsOf(cacheVersion)) cache[name] = await section.read(reader);
  if (reader.remaining !== 0) throw reader.bad(`${reader.remaining} bytes left over`);
  return cache as unknown as OriginalCache;
}

/** The plaintext of a cache in short pieces, which the caller wipes. */
export function* piecesOfCache(cache: CacheToWrite): Generator<Uint8Array> {
  yield MAGIC.slice();
  yield encode(varint, cache.version);
  for (const [name, section] of sectionsOf(cache.version))
    yield* section.pieces(cache[name as keyof CacheToWrite]);
}

/** The same cache encrypted with another key. Throws `BadBytes` if the old key doesn't decrypt it. */
export function resealCache(
  file: Uint8Array,
  { from, to, iv }: { from: Uint8Array; to: Uint8Array; iv: Uint8Array },
): Uint8Array {
  const old = readFrame(file);
  const plain = chacha20(old.encrypted, from, old.iv);
  try {
    if (!equalBytes(plain.subarray(0, MAGIC.length), MAGIC))
      throw new BadBytes("not a cache of version 0.18 under this password");
    return encode(encryptedFile, { iv, encrypted: chacha20(plain, to, iv) });
  } finally {
    wipe(plain);
  }
}
