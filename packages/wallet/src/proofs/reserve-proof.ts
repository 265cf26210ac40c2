/**
 * Proof of funds: for each output that it is ours (shared secret) and which key image spends it, and for each address
 * that received them that its spend key is ours. Whoever checks asks the chain whether the key images are spent.
 * Source: wallet2.cpp `get_reserve_proof`, `check_reserve_proof`; wallet2.h `reserve_proof_entry`.
 */
import {
  checkRingSignature,
  checkSignature,
  checkTxProof,
  deriveSubaddressPublicKey,
  generateRingSignature,
  generateTxProof,
  InvalidPoint,
  isInMainSubgroup,
  keccak256,
  mulBy8,
  publicKeyOf,
  scAdd,
  scalarMult,
  signMessageHash,
  subaddressSecretKey,
} from "@anulo/crypto";
import {
  additionalPublicKeys,
  BadBytes,
  bytes,
  bytes32,
  concatBytes,
  decode,
  encode,
  encodeBase58,
  list,
  outputKey,
  parseExtra,
  refine,
  struct,
  type Transaction,
  type TypeOf,
  toHex,
  txPublicKey,
  varint,
} from "@anulo/protocol";
import { oneTimeSecret } from "../scan/scan-transaction.ts";
import type { OwnedOutput, SubaddressIndex, WalletKeys } from "../state.ts";
import { workThreads } from "../threads/work-threads.ts";
import { openedAmount, type PaidAmounts } from "./received.ts";
import { decodeProofText, mapPatiently, proofRefusal } from "./text.ts";

const HEADERS = { 1: "ReserveProofV1", 2: "ReserveProofV2" } as const;

const entry = struct()
  .field(
    "version",
    refine(varint, (version) => version === 0, "unknown version"),
  )
  .field("txHash", bytes32)
  .field("outputIndex", varint)
  .field("sharedSecret", bytes32)
  .field("keyImage", bytes32)
  .field("sharedSecretProof", bytes(64))
  .field("keyImageProof", bytes(64));

const spendKey = struct()
  .field(
    "pairSize",
    refine(varint, (size) => size === 2, "not a pair"),
  )
  .field("key", bytes32)
  .field("signature", bytes(64));

const reserveProof = struct().field("entries", list(entry)).field("spendKeys", list(spendKey));

export type Entry = TypeOf<typeof entry>;
type SpendKey = TypeOf<typeof spendKey>;
export type ReserveProof = TypeOf<typeof reserveProof> & { readonly headerVersion: 1 | 2 };

type AddressKeys = { readonly spendPublic: Uint8Array; readonly viewPublic: Uint8Array };

function prefixHashOf(
  message: Uint8Array,
  address: AddressKeys,
  entries: readonly { keyImage: Uint8Array }[],
): Uint8Array {
  const images = entries.map(({ keyImage }) => keyImage);
  return keccak256(concatBytes(message, address.spendPublic, address.viewPublic, ...images));
}

type ProvingKeys = WalletKeys & { readonly spendSecret: Uint8Array };
export type Proving = { readonly keys: ProvingKeys; readonly prefixHash: Uint8Array };

/** What a proof says of one output whose key image is known. */
export function proveOutput(output: OwnedOutput, { keys, prefixHash }: Proving): Entry {
  const { txHash, outputIndex, txPublicKey: A, oneTimeKey, subaddress } = output;
  const keyImage = output.keyImage!;
  const sharedSecret = scalarMult(keys.viewSecret, A);
  const derivation = mulBy8(sharedSecret);
  const secretKey = oneTimeSecret(keys, { derivation, outputIndex, subaddress });
  try {
    const statement = { prefixHash, R: keys.viewPublic, A, D: sharedSecret, version: 2 } as const;
    const ring = { prefixHash, keyImage, publicKeys: [oneTimeKey] };
    const [keyImageProof] = generateRingSignature(ring, { secretKey, realIndex: 0 });
    const sharedSecretProof = generateTxProof(statement, keys.viewSecret);
    return {
      version: 0,
      txHash,
      outputIndex,
      sharedSecret,
      keyImage,
      sharedSecretProof,
      keyImageProof: keyImageProof!,
    };
  } finally {
    secretKey.fill(0);
    derivation.fill(0);
  }
}

function proveSpendKey({ major, minor }: SubaddressIndex, { keys, prefixHash }: Proving): SpendKey {
  const part = major === 0 && minor === 0 ? undefined : subaddressSecretKey(keys.viewSecret, major, minor);
  const secret =
    part === undefined ? new Uint8Array(keys.spendSecret) : new Uint8Array(scAdd(part, keys.spendSecret));
  try {
    const key = publicKeyOf(secret);
    return { pairSize: 2, key, signature: signMessageHash(prefixHash, key, secret) };
  } finally {
    secret.fill(0);
    part?.fill(0);
  }
}

/** The primary address is always among them: it names the wallet. */
function addressesOf(outputs: readonly OwnedOutput[]): SubaddressIndex[] {
  const primary = { major: 0, minor: 0 };
  const indices = [primary, ...outputs.map(({ subaddress }) => subaddress)];
  return [...new Map(indices.map((index) => [`${index.major}/${index.minor}`, index])).values()];
}

/** Proof text for outputs with known key images. */
export async function proveReserve(
  outputs: readonly OwnedOutput[],
  { keys, message }: { keys: ProvingKeys; message: Uint8Array },
): Promise<string> {
  const images = outputs.map(({ keyImage }) => ({ keyImage: keyImage! }));
  const proving = { keys, prefixHash: prefixHashOf(message, keys, images) };
  const entries = await workThreads.map("proveReserve", outputs, proving);
  const spendKeys = await mapPatiently(addressesOf(outputs), (index) => proveSpendKey(index, proving));
  return HEADERS[2] + encodeBase58(encode(reserveProof, { entries, spendKeys }));
}

/** The fewest of the greatest outputs that reach an amount (atomic units), none greater than needed. */
export function chooseReserve(outputs: readonly OwnedOutput[], amount: bigint): OwnedOutput[] {
  const descending = [...outputs].sort((a, b) => (a.amount < b.amount ? 1 : a.amount > b.amount ? -1 : 0));
  const smaller = descending.findIndex((output) => output.amount < amount);
  const enough = smaller === -1 ? descending.length : smaller;
  const chosen: OwnedOutput[] = [];
  let total = 0n;
  for (const output of descending.slice(Math.max(0, enough - 1))) {
    if (total >= amount) break;
    chosen.push(output);
    total += output.amount;
  }
  return chosen;
}

/** Letters decoded before others may run; whole blocks of base 58. */
const LETTERS_AT_ONCE = 11 * 1024;

async function decodePatiently(text: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < text.length; at += LETTERS_AT_ONCE) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    parts.push(decodeProofText(text.slice(at, at + LETTERS_AT_ONCE)));
  }
  return concatBytes(...parts);
}

/** Reads a proof of the wallet with this address. Throws `WalletRefusal` for anything else. */
export async function parseReserveProof(text: string, address: AddressKeys): Promise<ReserveProof> {
  const headerVersion = text.startsWith(HEADERS[1]) ? 1 : text.startsWith(HEADERS[2]) ? 2 : undefined;
  if (headerVersion === undefined) throw proofRefusal("Signature header check error");
  const blob = await decodePatiently(text.slice(HEADERS[headerVersion].length));
  const absent = proofRefusal("The given address isn't found in the proof");
  try {
    const proof = decode(reserveProof, blob);
    const own = toHex(address.spendPublic);
    if (!proof.spendKeys.some(({ key }) => toHex(key) === own)) throw absent;
    return { ...proof, headerVersion };
  } catch (error) {
    if (error instanceof BadBytes) throw absent;
    throw error;
  }
}

/** What all entries of a proof are checked against. */
export type Checking = {
  readonly prefixHash: Uint8Array;
  readonly viewPublic: Uint8Array;
  readonly version: 1 | 2;
  /** Hex. */
  readonly spendKeys: ReadonlySet<string>;
};

/** As much of a transaction as shows what it paid. */
export type PaidTransaction = {
  readonly prefix: Pick<Transaction["prefix"], "version" | "outputs" | "extra">;
  readonly ringct: PaidAmounts | undefined;
};

function isShared(
  each: Entry,
  { prefix }: PaidTransaction,
  { prefixHash, viewPublic: R, version }: Checking,
) {
  const fields = parseExtra(prefix.extra);
  const main = txPublicKey(fields);
  if (main === undefined) throw proofRefusal("The tx public key isn't found");
  const additional = additionalPublicKeys(fields);
  const own = additional.length === prefix.outputs.length ? additional[each.outputIndex] : undefined;
  return [main, own].some((A) => {
    const statement = A && { prefixHash, R, A, D: each.sharedSecret, version };
    return statement !== undefined && checkTxProof(statement, each.sharedSecretProof);
  });
}

/** The spend key an output was sent to; undefined where no derivation can be made. */
function receiverOf(key: Uint8Array, sharedSecret: Uint8Array, outputIndex: number): string | undefined {
  try {
    return toHex(deriveSubaddressPublicKey(key, mulBy8(sharedSecret), outputIndex));
  } catch (error) {
    if (error instanceof InvalidPoint) return undefined;
    throw error;
  }
}

/** Atomic units one entry proves; undefined when it proves nothing. Throws `WalletRefusal`. */
export function checkEntry(
  each: Entry,
  transaction: PaidTransaction,
  checking: Checking,
): bigint | undefined {
  const { outputIndex, sharedSecret, keyImage, keyImageProof } = each;
  const output = transaction.prefix.outputs[outputIndex];
  if (output === undefined) throw proofRefusal("index_in_tx is out of bound");
  const key = outputKey(output);
  if (key === undefined) throw proofRefusal("Output key wasn't found");
  if (!isShared(each, transaction, checking)) return undefined;
  const ring = { prefixHash: checking.prefixHash, keyImage, publicKeys: [key] };
  if (!isInMainSubgroup(keyImage) || !checkRingSignature(ring, [keyImageProof])) return undefined;
  if (!checking.spendKeys.has(receiverOf(key, sharedSecret, outputIndex) ?? ""))
    throw proofRefusal("The address doesn't seem to have received the fund");
  return openedAmount(transaction, outputIndex, mulBy8(sharedSecret));
}

function paidPart({ prefix, ringct }: Transaction): PaidTransaction {
  const { version, outputs, extra } = prefix;
  if (ringct === undefined || ringct.type === 0) return { prefix: { version, outputs, extra }, ringct };
  const { type, ecdhInfo, outputCommitments } = ringct;
  return { prefix: { version, outputs, extra }, ringct: { type, ecdhInfo, outputCommitments } };
}

export type ReserveQuestion = {
  readonly address: AddressKeys;
  readonly message: Uint8Array;
  /** The entries' transactions, in order. */
  readonly transactions: readonly Transaction[];
  /** Whether each entry's key image is spent. */
  readonly spent: readonly boolean[];
};

/**
 * Atomic units the proof shows, and how much of them is spent by now; undefined when it proves nothing. The same
 * output twice proves nothing. Throws `WalletRefusal` for entries that can't be proofs.
 */
export async function checkReserveProof(
  proof: ReserveProof,
  { address, message, transactions, spent }: ReserveQuestion,
): Promise<{ total: bigint; spent: bigint } | undefined> {
  const { entries, spendKeys, headerVersion: version } = proof;
  if (new Set(entries.map(({ keyImage }) => toHex(keyImage))).size !== entries.length) return undefined;
  const prefixHash = prefixHashOf(message, address, entries);
  const keys = new Set(spendKeys.map(({ key }) => toHex(key)));
  const checking: Checking = { prefixHash, viewPublic: address.viewPublic, version, spendKeys: keys };
  const items = entries.map((entry, i) => ({ entry, transaction: paidPart(transactions[i]!) }));
  const amounts = await workThreads.map("checkReserve", items, checking);
  const areOwned = await mapPatiently(spendKeys, ({ key, signature }) =>
    checkSignature(prefixHash, key, signature),
  );
  const sum = { total: 0n, spent: 0n };
  for (const [i, amount] of amounts.entries()) {
    if (amount === undefined) return undefined;
    sum.total += amount;
    if (spent[i] !== false) sum.spent += amount;
  }
  return areOwned.every(Boolean) ? sum : undefined;
}
