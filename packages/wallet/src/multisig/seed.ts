/**
 * A multisig wallet as one hexadecimal text, with all data that a signer needs to restore the wallet:
 *
 * threshold (4) · signers (4) · base secret · spend public key · common secret · view public key · shares · signers'
 * keys
 *
 * Source: wallet2.cpp `get_multisig_seed`, `generate` of multisig data.
 */
import { pointSum, publicKeyOf, scIsZero, wipe } from "@anulo/crypto";
import { compareBytes, equalBytes, fromHex, toHex } from "@anulo/protocol";
import { keysOfAccount, wipeKeys } from "./account-keys.ts";
import {
  checkAccount,
  choose,
  KeyExchangeRefused,
  MAX_SIGNERS,
  type MultisigAccount,
  roundsRequired,
  weightedKeys,
} from "./key-exchange.ts";
import { isPublicKey } from "./key-exchange-message.ts";

const COUNT_BYTES = 8;
const KEY_BYTES = 32;
/** Base secret, spend key, common secret, view key. */
const SINGLE_KEYS = 4;

/** Text that is not the seed of a multisig wallet. */
export class BadMultisigSeed extends Error {
  override name = "BadMultisigSeed";
}

function demand(holds: boolean): asserts holds {
  if (!holds) throw new BadMultisigSeed("invalid multisig seed");
}

/** The seed of a wallet that has its address, in lower case. */
export function formatMultisigSeed(account: MultisigAccount): string {
  const { threshold, signers, baseSecret, spendPublic, commonSecret, viewPublic, shares } = account;
  const counts = new DataView(new ArrayBuffer(COUNT_BYTES));
  counts.setUint32(0, threshold, true);
  counts.setUint32(4, signers.length, true);
  const keys = [baseSecret, spendPublic, commonSecret, viewPublic, ...shares, ...signers];
  return [new Uint8Array(counts.buffer), ...keys].map(toHex).join("");
}

/** The account of a seed, with its key exchange complete. Throws BadMultisigSeed, and BadHex for other characters. */
export function parseMultisigSeed(text: string): MultisigAccount {
  const bytes = fromHex(text);
  try {
    const account = readAccount(bytes);
    try {
      checkSeed(account);
      return account;
    } catch (error) {
      wipeKeys(keysOfAccount(account));
      throw error;
    }
  } finally {
    wipe(bytes);
  }
}

function readAccount(bytes: Uint8Array): MultisigAccount {
  demand(bytes.length >= COUNT_BYTES);
  const counts = new DataView(bytes.buffer, bytes.byteOffset, COUNT_BYTES);
  const threshold = counts.getUint32(0, true);
  const total = counts.getUint32(4, true);
  demand(threshold >= 1 && threshold <= total && total >= 2 && total <= MAX_SIGNERS);
  const shareCount = choose(total - 1, total - threshold);
  const keyCount = SINGLE_KEYS + shareCount + total;
  demand(bytes.length === COUNT_BYTES + KEY_BYTES * keyCount);
  const keys = Array.from({ length: keyCount }, (_, n) =>
    bytes.slice(COUNT_BYTES + KEY_BYTES * n, COUNT_BYTES + KEY_BYTES * (n + 1)),
  );
  const [baseSecret, spendPublic, commonSecret, viewPublic] = keys as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const shares = keys.slice(SINGLE_KEYS, SINGLE_KEYS + shareCount);
  const signers = keys.slice(SINGLE_KEYS + shareCount);
  const account = { threshold, signers, baseSecret, spendPublic, commonSecret, viewPublic, shares };
  return { ...account, roundsComplete: roundsRequired(account) + 1, roundKeys: [] };
}

/** A seed has no check word: values that a typing error could change are compared with all the others. */
function checkSeed(account: MultisigAccount): void {
  const { baseSecret, spendPublic, commonSecret, viewPublic, shares } = account;
  demand(![baseSecret, commonSecret, ...shares].some(scIsZero));
  try {
    checkAccount(account);
  } catch (error) {
    if (!(error instanceof KeyExchangeRefused)) throw error;
    throw new BadMultisigSeed("invalid multisig seed");
  }
  demand(equalBytes(publicKeyOf(commonSecret), viewPublic));
  demand(isPublicKey(spendPublic) && isSharedBy(account));
}

/**
 * Whether the shares belong to this address, as far as one signer can check: if one is enough, or if all must sign.
 * Wallets from before 0.18 with all signers' keys sum them without factors.
 */
function isSharedBy({ threshold, signers, shares, spendPublic }: MultisigAccount): boolean {
  if (threshold > 1 && threshold < signers.length) return true;
  const own = publicKeyOf(shares[0]!);
  if (threshold === 1) return equalBytes(own, spendPublic);
  return [weightedKeys([...signers].sort(compareBytes)), signers].some(
    (parts) => equalBytes(pointSum(parts), spendPublic) && parts.some((part) => equalBytes(part, own)),
  );
}
