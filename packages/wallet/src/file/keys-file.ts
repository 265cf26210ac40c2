/**
 * The keys file (`<name>.keys`), byte for byte as the original programs read and write it:
 *
 * iv (8) · varint length · chacha20(JSON)
 *
 * The JSON contains settings and `key_data`, raw bytes of a portable storage record, whose secrets are encrypted a
 * second time with a key derived from the file's key. The file's key is the CryptoNight hash of the password.
 * Source: wallet2.cpp `get_keys_file_data`, `load_keys_buf`; account.cpp `xor_with_key_stream`.
 */
import { chacha8, chacha20, type RandomSource, wipe } from "@anulo/crypto";
import { BadBytes, encode, epee, Reader, readRecord, writeRecord } from "@anulo/protocol";
import { BadJson, type Json, type JsonObject, parseJson, Real } from "@anulo/rpc";
import { mismatch } from "../keys/wallet-keys.ts";
import { accountOfKeys } from "../multisig/account-keys.ts";
import { checkAccount, KeyExchangeRefused } from "../multisig/key-exchange.ts";
import type { MultisigPart, NetworkName, WalletKeys } from "../state.ts";
import type { WorkThreads } from "../threads/work-threads.ts";
import { type EncryptedFile, encryptedFile, IV_BYTES } from "./encrypted-file.ts";
import { formatMultisigSettings, multisigOfSettings } from "./multisig-settings.ts";
import { backgroundCacheKeyOf, cacheKeyOf, keyFrom } from "./original-cache.ts";
import { hashFileKey, hashPassword } from "./password-hash.ts";

/** Maximum size: a keys file has a few kilobytes. */
const MAX_FILE_BYTES = 1 << 20;
/** Appended to the file's key for the inner layer. Source: cryptonote_config.h HASH_KEY_MEMORY. */
const MEMORY_KEY_TAIL = "k".charCodeAt(0);
/** Appended to the password's key for a background wallet's. Source: cryptonote_config.h HASH_KEY_BACKGROUND_KEYS_FILE. */
const BACKGROUND_KEY_TAIL = 0x8f;

/** `key_data`. Source: account.h `account_base`, `account_keys`. */
const account = epee.record({
  m_creation_timestamp: epee.u64,
  m_keys: epee.record({
    m_account_address: epee.record({
      m_spend_public_key: epee.fixedBytes(32),
      m_view_public_key: epee.fixedBytes(32),
    }),
    m_encryption_iv: epee.optionalField(epee.fixedBytes(IV_BYTES)),
    m_multisig_keys: epee.optionalField(epee.packedBytes(32)),
    m_spend_secret_key: epee.fixedBytes(32),
    m_view_secret_key: epee.fixedBytes(32),
  }),
});

/** The content of a keys file. `settings` has every field of the JSON but the keys, in the order of the file. */
export type KeysFile = {
  readonly keys: WalletKeys;
  /** Seconds since 1970. */
  readonly createdAt: bigint;
  readonly settings: ReadonlyMap<string, Json>;
  /** True for a background wallet: it has no spend secret, and is a copy of a wallet that has one. */
  readonly isBackground?: boolean;
};

/** How many rounds derive the key of a file from its password, and which threads compute them. */
export type Hashing = { readonly threads: WorkThreads; readonly kdfRounds?: number | undefined };

export type KeysFileOptions = Hashing & {
  readonly password: string;
  readonly random: RandomSource;
};

/** A keys file that has been read. `cacheKey` decrypts the original's cache beside it; the caller wipes both. */
export type ReadKeysFile = KeysFile & { readonly cacheKey: Uint8Array };

/** The password doesn't open this file, or the file is not a keys file. */
export class WrongPassword extends Error {
  constructor() {
    super("invalid password");
    this.name = "WrongPassword";
  }
}

/** Derives the file's key: 32 bytes, which the caller wipes. */
function fileKeyOf(password: string, { threads, kdfRounds: rounds = 1 }: Hashing): Promise<Uint8Array> {
  return hashPassword(threads, password, rounds);
}

/** Reads a keys file. Throws `WrongPassword`, also for a damaged file: the format cannot distinguish the two. */
export async function readKeysFile(
  file: Uint8Array,
  { password, ...hashing }: Omit<KeysFileOptions, "random">,
): Promise<ReadKeysFile> {
  if (file.length > MAX_FILE_BYTES) throw new WrongPassword();
  const { iv, encrypted } = readFrame(file);
  const fileKey = await fileKeyOf(password, hashing);
  const backgroundKey = keyFrom(fileKey, BACKGROUND_KEY_TAIL);
  try {
    const settings = openJson(encrypted, fileKey, iv);
    if (settings === undefined) return await readBackgroundKeysFile(file, backgroundKey, hashing.threads);
    const { keys, createdAt } = await openAccount(settings, fileKey, hashing.threads);
    return { ...checked({ keys, createdAt, settings }), cacheKey: cacheKeyOf(fileKey) };
  } finally {
    wipe(fileKey, backgroundKey);
  }
}

/** Reads the keys file of a background wallet with its key (32 bytes). Throws `WrongPassword`. */
export async function readBackgroundKeysFile(
  file: Uint8Array,
  key: Uint8Array,
  threads: WorkThreads,
): Promise<ReadKeysFile> {
  const { iv, encrypted } = readFrame(file);
  const settings = parseObject(chacha20(encrypted, key, iv));
  if (settings === undefined) throw new WrongPassword();
  const { keys, createdAt } = await openAccount(settings, key, threads);
  wipe(keys.spendSecret);
  const read = checked({ keys: { ...keys, spendSecret: undefined }, createdAt, settings });
  return { ...read, isBackground: true, cacheKey: backgroundCacheKeyOf(key) };
}

/** The key (32 bytes, wiped by the caller) of a background wallet's keys file, from its password. */
export async function backgroundKeyOf(password: string, hashing: Hashing): Promise<Uint8Array> {
  const fileKey = await fileKeyOf(password, hashing);
  try {
    return keyFrom(fileKey, BACKGROUND_KEY_TAIL);
  } finally {
    wipe(fileKey);
  }
}

type Opened = Pick<KeysFile, "keys" | "createdAt"> & { readonly settings: Map<string, Json> };

function checked({ keys, createdAt, settings }: Opened): KeysFile {
  if (mismatch(keys) !== undefined) throw new WrongPassword();
  checkMultisig(keys);
  settings.delete("key_data");
  return { keys, createdAt, settings };
}

function checkMultisig(keys: WalletKeys): void {
  const account = accountOfKeys(keys);
  if (account === undefined) return;
  try {
    checkAccount(account);
  } catch (error) {
    if (error instanceof KeyExchangeRefused) throw new WrongPassword();
    throw error;
  }
}

async function openAccount(
  json: ReadonlyMap<string, Json>,
  fileKey: Uint8Array,
  threads: WorkThreads,
): Promise<{ keys: WalletKeys; createdAt: bigint }> {
  const keyData = json.get("key_data");
  if (typeof keyData !== "string") throw new WrongPassword();
  const { m_creation_timestamp: createdAt, m_keys: kept } = readAccount(Buffer.from(keyData, "latin1"));
  const spendSecret = kept.m_spend_secret_key;
  const viewSecret = kept.m_view_secret_key;
  const shares = kept.m_multisig_keys ?? [];
  if (json.get("encrypted_secret_keys") === 1) {
    const iv = kept.m_encryption_iv ?? new Uint8Array(IV_BYTES);
    await hideSecrets({ fileKey, iv, threads }, [spendSecret, viewSecret, ...shares]);
  }
  const isViewOnly = json.get("watch_only") === 1;
  if (isViewOnly) wipe(spendSecret);
  const { m_spend_public_key: spendPublic, m_view_public_key: viewPublic } = kept.m_account_address;
  return {
    keys: {
      spendPublic,
      viewPublic,
      viewSecret,
      spendSecret: isViewOnly ? undefined : spendSecret,
      multisig: readMultisig(json, shares),
    },
    createdAt,
  };
}

function readMultisig(
  json: ReadonlyMap<string, Json>,
  shares: readonly Uint8Array[],
): MultisigPart | undefined {
  try {
    const part = multisigOfSettings(json);
    return part === undefined ? undefined : { ...part, shares };
  } catch (error) {
    if (error instanceof BadBytes) throw new WrongPassword();
    throw error;
  }
}

function readAccount(keyData: Uint8Array) {
  try {
    return readRecord(account, keyData);
  } catch (error) {
    if (error instanceof BadBytes) throw new WrongPassword();
    throw error;
  }
}

/** The inner layer: encrypts or decrypts the secrets in place, in this order; both are the same operation. */
async function hideSecrets(
  { fileKey, iv, threads }: { fileKey: Uint8Array; iv: Uint8Array; threads: WorkThreads },
  secrets: readonly Uint8Array[],
): Promise<void> {
  const key = await hashFileKey(threads, fileKey, MEMORY_KEY_TAIL);
  const stream = chacha20(new Uint8Array(32 * secrets.length), key, iv);
  for (const [n, secret] of secrets.entries()) {
    for (let i = 0; i < 32; i++) secret[i]! ^= stream[32 * n + i]!;
  }
  wipe(key, stream);
}

/** A keys file that has been serialized. `cacheKey` is that of the original's cache beside it; the caller wipes it. */
export type SealedKeysFile = { readonly image: Uint8Array; readonly cacheKey: Uint8Array };

/** Serializes a keys file. This takes about 80 ms: two rounds of CryptoNight. */
export async function writeKeysFile(file: KeysFile, options: KeysFileOptions): Promise<Uint8Array> {
  const { image, cacheKey } = await sealKeysFile(file, options);
  wipe(cacheKey);
  return image;
}

/** As `writeKeysFile`; also returns the key of the cache. */
export async function sealKeysFile(
  file: KeysFile,
  { password, random, ...hashing }: KeysFileOptions,
): Promise<SealedKeysFile> {
  const fileKey = await fileKeyOf(password, hashing);
  try {
    return {
      image: await sealUnder(fileKey, file, { random, threads: hashing.threads }),
      cacheKey: cacheKeyOf(fileKey),
    };
  } finally {
    wipe(fileKey);
  }
}

/** Serializes a keys file with its key (32 bytes). */
export async function sealUnder(
  fileKey: Uint8Array,
  file: KeysFile,
  sealing: Pick<KeysFileOptions, "random" | "threads">,
): Promise<Uint8Array> {
  const json = new Map<string, Json>([
    ["key_data", await sealedAccount(file, fileKey, sealing)],
    ...file.settings,
    ...formatMultisigSettings(file.keys.multisig),
  ]);
  const isViewOnly = file.keys.spendSecret === undefined && file.isBackground !== true;
  json.set("watch_only", isViewOnly ? 1 : 0);
  json.set("encrypted_secret_keys", 1);
  const text = Buffer.from(formatObject(json), "latin1");
  const iv = sealing.random(IV_BYTES);
  const encrypted = chacha20(text, fileKey, iv);
  wipe(text);
  return encode(encryptedFile, { iv, encrypted });
}

/** The account as text, one character per byte. */
async function sealedAccount(
  { keys, createdAt }: KeysFile,
  fileKey: Uint8Array,
  { random, threads }: Pick<KeysFileOptions, "random" | "threads">,
): Promise<string> {
  const iv = random(IV_BYTES);
  const spendSecret = keys.spendSecret?.slice() ?? new Uint8Array(32);
  const viewSecret = keys.viewSecret.slice();
  const shares = keys.multisig?.shares.map((share) => share.slice()) ?? [];
  await hideSecrets({ fileKey, iv, threads }, [spendSecret, viewSecret, ...shares]);
  const bytes = writeRecord(account, {
    m_creation_timestamp: createdAt,
    m_keys: {
      m_account_address: { m_spend_public_key: keys.spendPublic, m_view_public_key: keys.viewPublic },
      m_encryption_iv: iv,
      m_multisig_keys: keys.multisig === undefined ? undefined : shares,
      m_spend_secret_key: spendSecret,
      m_view_secret_key: viewSecret,
    },
  });
  return Buffer.from(bytes).toString("latin1");
}

/** Strings contain raw bytes here, so the text is Latin-1 whatever encoding they have. */
function formatObject(object: ReadonlyMap<string, Json>): string {
  const fields = [...object].map(([name, value]) => `${JSON.stringify(name)}:${formatValue(value)}`);
  return `{${fields.join(",")}}`;
}

function formatValue(value: Json): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Real)
    return Number.isInteger(value.value) ? value.value.toFixed(1) : String(value.value);
  if (typeof value === "object" && value !== null)
    throw new TypeError("settings of a keys file are plain values");
  return String(value);
}

function readFrame(file: Uint8Array): EncryptedFile {
  try {
    return encryptedFile.read(new Reader(file));
  } catch (error) {
    if (error instanceof BadBytes) throw new WrongPassword();
    throw error;
  }
}

/** Decrypts the JSON. Files of the first years used ChaCha8. */
function openJson(encrypted: Uint8Array, key: Uint8Array, iv: Uint8Array): Map<string, Json> | undefined {
  return parseObject(chacha20(encrypted, key, iv)) ?? parseObject(chacha8(encrypted, key, iv));
}

function parseObject(bytes: Uint8Array): Map<string, Json> | undefined {
  if (bytes[0] !== 0x7b) return undefined;
  try {
    return new Map(Object.entries(parseJson(Buffer.from(bytes).toString("latin1")) as JsonObject));
  } catch (error) {
    if (error instanceof BadJson) return undefined;
    throw error;
  }
}

type NewWallet = { network: NetworkName; seedLanguage: string; refreshHeight: number };

/**
 * Settings of a new wallet, as the original writes them. `seed_language` is UTF-8, stored as bytes.
 * Source: wallet2.cpp `get_keys_file_data`, the constructor's defaults.
 */
export function newSettings(wallet: NewWallet): Map<string, Json> {
  const language: [string, Json][] =
    wallet.seedLanguage === ""
      ? []
      : [["seed_language", Buffer.from(wallet.seedLanguage, "utf8").toString("latin1")]];
  return new Map<string, Json>([
    ...language,
    ["key_on_device", 0],
    ["watch_only", 0],
    ["multisig", 0],
    ["multisig_threshold", 0],
    ["always_confirm_transfers", 1],
    ["print_ring_members", 0],
    ["store_tx_info", 1],
    ["default_mixin", 0],
    ["default_priority", 0],
    ["auto_refresh", 1],
    ["refresh_type", 1],
    ["refresh_height", wallet.refreshHeight],
    ["skip_to_height", 0],
    ["confirm_non_default_ring_size", 1],
    ["ask_password", 2],
    ["max_reorg_depth", 100],
    ["min_output_count", 0],
    ["min_output_value", 0],
    ["default_decimal_point", 12],
    ["merge_destinations", 0],
    ["confirm_backlog", 1],
    ["confirm_backlog_threshold", 0],
    ["confirm_export_overwrite", 1],
    ["auto_low_priority", 1],
    ["nettype", networkNumbers[wallet.network]],
    ["segregate_pre_fork_outputs", 1],
    ["key_reuse_mitigation2", 1],
    ["segregation_height", 0],
    ["ignore_fractional_outputs", 1],
    ["ignore_outputs_above", 0xffff_ffff_ffff_ffffn],
    ["ignore_outputs_below", 0],
    ["track_uses", 0],
    ["background_sync_type", 0],
    ["show_wallet_name_when_locked", 0],
    ["inactivity_lock_timeout", 90],
    ["setup_background_mining", 0],
    ["subaddress_lookahead_major", 50],
    ["subaddress_lookahead_minor", 200],
    ["original_keys_available", 0],
    ["export_format", 0],
    ["load_deprecated_formats", 0],
    ["encrypted_secret_keys", 1],
    ["device_name", ""],
    ["device_derivation_path", ""],
    ["persistent_rpc_client_id", 0],
    ["auto_mine_for_rpc_payment", new Real(-1)],
    ["credits_target", 0],
    ["enable_multisig", 0],
  ]);
}

/** Numbers of networks in a keys file; regtest uses that of mainnet. Source: cryptonote_config.h `network_type`. */
export const networkNumbers: Record<NetworkName, number> = {
  mainnet: 0,
  testnet: 1,
  stagenet: 2,
  regtest: 0,
};
