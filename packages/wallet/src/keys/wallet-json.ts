/**
 * Descriptions of wallets to create, as `--generate-from-json` accepts them. Source: wallet2.cpp `generate_from_json`.
 */
import { publicKeyOf, scIsCanonical, scIsZero, wipe } from "@anulo/crypto";
import {
  type Address,
  BadAddress,
  BadMnemonic,
  decodeMnemonic,
  equalBytes,
  fromHex,
  parseAddress,
  removeSeedOffset,
} from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";
import type { NetworkName, WalletKeys } from "../state.ts";
import { CREATED_FROM_KEYS, CREATED_FROM_SEED, keysOfSeed, type NewWallet } from "./wallet-keys.ts";

const NEWEST_VERSION = 1;

function refuse(message: string): never {
  throw new WalletRefusal("UNKNOWN_ERROR", message);
}

type Fields = Readonly<Record<string, unknown>>;

function parseObject(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  } catch {}
  // The parser's own message would contain parts of the file.
  return refuse("Failed to parse JSON");
}

function textField(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || typeof value === "string") return value;
  return refuse(`Field ${name} found in JSON, but not String`);
}

function numberField(fields: Fields, name: string, kind: "Uint" | "Uint64" | "Int"): number | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  const isGood = typeof value === "number" && Number.isSafeInteger(value) && (kind === "Int" || value >= 0);
  return isGood ? value : refuse(`Field ${name} found in JSON, but not ${kind}`);
}

function mandatory<T>(value: T | undefined, name: string): T {
  return value ?? refuse(`Field ${name} not found in JSON`);
}

function secretOf(text: string | undefined, which: "view" | "spend"): Uint8Array | undefined {
  if (text === undefined) return undefined;
  if (!/^[0-9a-f]{64}$/i.test(text)) refuse(`failed to parse ${which} key secret key`);
  const key = fromHex(text);
  if (scIsZero(key)) refuse(`${which} secret key may not be all zeroes`);
  if (!scIsCanonical(key)) refuse(`failed to verify ${which} key secret key`);
  return key;
}

function addressOf(text: string | undefined, network: NetworkName): Address | undefined {
  if (text === undefined) return undefined;
  try {
    return parseAddress(text, network);
  } catch (error) {
    if (error instanceof BadAddress) return refuse("invalid address");
    throw error;
  }
}

/**
 * A seed's key, with the offset removed, and its language. Seeds without check word are refused, as in the original.
 */
function seedOf(words: string, offset: string | undefined) {
  let decoded: ReturnType<typeof decodeMnemonic>;
  try {
    decoded = decodeMnemonic(words);
  } catch (error) {
    if (error instanceof BadMnemonic) return refuse("Electrum-style word list failed verification");
    throw error;
  }
  if (!decoded.hasCheckWord || decoded.language.name === "EnglishOld")
    refuse("Cannot generate deprecated wallets from JSON");
  if (!offset) return { key: decoded.key, language: decoded.language.englishName };
  const key = removeSeedOffset(decoded.key, offset);
  wipe(decoded.key);
  return { key, language: decoded.language.englishName };
}

type Secrets = { readonly view: Uint8Array | undefined; readonly spend: Uint8Array | undefined };

function keysOf({ view, spend }: Secrets, address: Address | undefined): WalletKeys {
  if (address !== undefined && view !== undefined && !equalBytes(publicKeyOf(view), address.viewPublic))
    refuse("view key does not match standard address");
  if (address !== undefined && spend !== undefined && !equalBytes(publicKeyOf(spend), address.spendPublic))
    refuse("spend key does not match standard address");
  if (view === undefined) return keysOfSeed(spend!);
  const viewPublic = publicKeyOf(view);
  if (spend !== undefined)
    return { viewSecret: view, viewPublic, spendSecret: spend, spendPublic: publicKeyOf(spend) };
  if (address === undefined) refuse("Address must be specified in order to create watch-only wallet");
  return { viewSecret: view, viewPublic, spendSecret: undefined, spendPublic: address.spendPublic };
}

/**
 * The wallet that a JSON object describes: `version` and `filename`, and either `seed` (with `seed_passphrase`), or
 * `spendkey`, or `viewkey` with one of `spendkey` and `address`; in addition `password`, `scan_from_height` and
 * `create_address_file`. Throws WalletRefusal.
 */
export function readWalletJson(
  text: string,
  network: NetworkName,
): { readonly file: string; readonly newWallet: NewWallet } {
  const fields = parseObject(text);
  const version = mandatory(numberField(fields, "version", "Uint"), "version");
  if (version > NEWEST_VERSION)
    refuse(`Version ${version} too new, we can only grok up to ${NEWEST_VERSION}`);
  const file = mandatory(textField(fields, "filename"), "filename");
  const refreshFromHeight = numberField(fields, "scan_from_height", "Uint64") ?? 0;
  const password = textField(fields, "password") ?? "";
  const view = secretOf(textField(fields, "viewkey"), "view");
  const spend = secretOf(textField(fields, "spendkey"), "spend");
  const words = textField(fields, "seed");
  const seed = words === undefined ? undefined : seedOf(words, textField(fields, "seed_passphrase"));
  const address = addressOf(textField(fields, "address"), network);
  const addressFile = (numberField(fields, "create_address_file", "Int") ?? 0) !== 0;
  if (seed === undefined && view === undefined && spend === undefined)
    refuse(
      "At least one of either an Electrum-style word list, private view key, or private spend key must be specified",
    );
  if (seed !== undefined && (view ?? spend) !== undefined)
    refuse("Both Electrum-style word list and private key(s) specified");
  const newWallet: NewWallet = {
    keys: seed === undefined ? keysOf({ view, spend }, address) : keysOfSeed(seed.key),
    password,
    seedLanguage: seed?.language ?? "",
    refreshFromHeight,
    createdAt: view === undefined ? CREATED_FROM_SEED : CREATED_FROM_KEYS,
    addressFile,
  };
  return { file, newWallet };
}
