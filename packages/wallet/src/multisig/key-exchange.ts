/**
 * How several signers agree on one address: in each round every signer sends keys to the others, until each share of
 * the address is known to a group of signers, so that no spend is possible without a signer of that group.
 * Source: multisig_account_kex_impl.cpp; MRL-0009 for the aggregation.
 */
import {
  generateKeyDerivation,
  hashToScalar,
  IDENTITY,
  pointSum,
  publicKeyOf,
  scalarMult,
  scIsCanonical,
  scMul,
} from "@anulo/crypto";
import { compareBytes, equalBytes, toHex } from "@anulo/protocol";
import {
  claimOfMessage,
  formatKeyExchangeMessage,
  isPublicKey,
  type KeyExchangeMessage,
  parseKeyExchangeMessage,
} from "./key-exchange-message.ts";

/** One signer's account in a multisig wallet; keys and secrets are 32 bytes. */
export interface MultisigAccount {
  /** Number of signers needed to spend. */
  readonly threshold: number;
  /** Public base keys of all signers. */
  readonly signers: readonly Uint8Array[];
  /** Number of completed rounds, the last of which only confirms. */
  readonly roundsComplete: number;
  readonly baseSecret: Uint8Array;
  /** This signer's shares of the spend secret. */
  readonly shares: readonly Uint8Array[];
  /** The view secret, known to all signers. */
  readonly commonSecret: Uint8Array;
  /** The identity point until all rounds but the confirming one are complete. */
  readonly spendPublic: Uint8Array;
  readonly viewPublic: Uint8Array;
  /** Keys that this signer sent to the others in the last round. */
  readonly roundKeys: readonly Uint8Array[];
}

/** Why a key exchange cannot continue; the message is for the caller. */
export class KeyExchangeRefused extends Error {
  override name = "KeyExchangeRefused";
}

export const MAX_SIGNERS = 16;
const baseSalt = salt("Multisig");
const aggregationSalt = salt("Multisig_key_agg");

function salt(text: string): Uint8Array {
  const bytes = new Uint8Array(32);
  bytes.set(new TextEncoder().encode(text));
  return bytes;
}

function demand(holds: boolean, message: string): asserts holds {
  if (!holds) throw new KeyExchangeRefused(message);
}

/** Number of rounds until the address is known; one more confirms it. */
export function roundsRequired({
  signers,
  threshold,
}: Pick<MultisigAccount, "signers" | "threshold">): number {
  return signers.length - threshold + 1;
}

/** Whether the address is known. */
export function hasAddress(account: MultisigAccount): boolean {
  return account.roundsComplete >= roundsRequired(account);
}

/** Whether the other signers have confirmed the address. */
export function isConfirmed(account: MultisigAccount): boolean {
  return account.roundsComplete > roundsRequired(account);
}

/** The secret (32 bytes) that a key exchange uses in place of a wallet's own. */
function blindedSecret(secret: Uint8Array): Uint8Array {
  return hashToScalar(secret, baseSalt);
}

/** Secrets of the ordinary wallet that becomes multisig. */
export interface OrdinarySecrets {
  readonly spendSecret: Uint8Array;
  readonly viewSecret: Uint8Array;
}

/** The first message (text) for the other signers. */
export function firstMessage({ spendSecret, viewSecret }: OrdinarySecrets): string {
  const commonSecret = blindedSecret(viewSecret);
  return formatKeyExchangeMessage({ round: 1, keys: [], commonSecret }, blindedSecret(spendSecret));
}

/** The message (text) for the others after the last completed round; once confirmed, the confirming message again. */
export function nextMessage(account: MultisigAccount): string {
  const { spendPublic, viewPublic, roundKeys, baseSecret, roundsComplete } = account;
  const keys = hasAddress(account) ? [spendPublic, viewPublic] : roundKeys;
  const round = Math.min(roundsComplete, roundsRequired(account)) + 1;
  return formatKeyExchangeMessage({ round, keys, commonSecret: undefined }, baseSecret);
}

/**
 * Starts the exchange with the others' first messages (this signer's own may be among them).
 * Throws KeyExchangeRefused or BadKeyExchangeMessage.
 */
export function startKeyExchange(
  secrets: OrdinarySecrets,
  texts: readonly string[],
  threshold: number,
): MultisigAccount {
  checkCount(texts);
  const messages = texts.map(parseKeyExchangeMessage);
  const baseSecret = blindedSecret(secrets.spendSecret);
  const own = publicKeyOf(baseSecret);
  demand(
    messages.every(({ round }) => round === 1),
    "the multisig strings are not those of the first round",
  );
  const names = messages.map(({ signer }) => toHex(signer));
  demand(
    new Set(names).size === names.length,
    "Duplicate signers not allowed when converting a wallet to multisig.",
  );
  const others = messages.filter(({ signer }) => !equalBytes(signer, own));
  const signers = [...others.map(({ signer }) => signer), own].sort(compareBytes);
  demand(threshold > 0 && threshold <= signers.length, "multisig account: tried to set invalid threshold.");
  demand(
    signers.length >= 2 && signers.length <= MAX_SIGNERS,
    "multisig account: tried to set invalid number of signers.",
  );
  const commonSecret = commonSecretOf([
    blindedSecret(secrets.viewSecret),
    ...others.map(({ commonSecret: theirs }) => theirs!),
  ]);
  return advance(
    {
      threshold,
      signers,
      roundsComplete: 0,
      baseSecret,
      commonSecret,
      roundKeys: [own],
      // If all signers must sign, each one's base secret is its share.
      shares: threshold === signers.length ? [baseSecret] : [],
      spendPublic: IDENTITY,
      viewPublic: publicKeyOf(commonSecret),
    },
    messages,
    false,
  );
}

/**
 * Completes the next round with the others' messages; throws KeyExchangeRefused or BadKeyExchangeMessage. A forced
 * round needs messages of only so many signers that every key is contained at least once; the messages then cannot be
 * checked against one another.
 */
export function continueKeyExchange(
  account: MultisigAccount,
  texts: readonly string[],
  { isForced = false }: { readonly isForced?: boolean } = {},
): MultisigAccount {
  demand(!isConfirmed(account), "multisig account: tried to update kex, but kex is already complete.");
  checkCount(texts);
  // Cheap checks first: every key costs a multiplication of a point.
  const claims = texts.map(claimOfMessage);
  checkRound(
    claims.map(({ round }) => round),
    account,
  );
  const most = keysPerMessage(account);
  demand(
    claims.every(({ keyCount }) => keyCount <= most),
    `A multisig string has more than ${most} keys.`,
  );
  return advance(account, texts.map(parseKeyExchangeMessage), isForced);
}

/** The round of all messages, which must be the next one. */
function checkRound(rounds: readonly number[], { roundsComplete }: MultisigAccount): number {
  const expected = roundsComplete + 1;
  demand(
    rounds.length > 0 && rounds.every((round) => round === expected),
    `Messages don't have the expected kex round number: ${expected}`,
  );
  return expected;
}

function checkCount(texts: readonly string[]): void {
  demand(texts.length <= MAX_SIGNERS, "more multisig strings than there can be signers");
}

/** Number of keys that each signer sends to the others for the next round: one for each group that is to share it. */
function keysPerMessage(account: MultisigAccount): number {
  if (hasAddress(account)) return 2; // they confirm the two keys of the address
  return choose(account.signers.length - 1, account.roundsComplete);
}

function commonSecretOf(parts: readonly Uint8Array[]): Uint8Array {
  return hashToScalar(...[...parts].sort(compareBytes));
}

function advance(
  account: MultisigAccount,
  messages: readonly KeyExchangeMessage[],
  isForced: boolean,
): MultisigAccount {
  const round = checkRound(
    messages.map((message) => message.round),
    account,
  );
  const required = roundsRequired(account);
  if (round > required) return confirm(account, messages, isForced);
  // If one signer is enough, all share the key of the last round: nothing new is sent.
  const isShared = account.threshold === 1 && round === required;
  const keys = isShared ? [] : recommendedKeys(account, messages, { round, isForced });
  const next = { ...account, roundsComplete: round };
  return round === required ? aggregate(next, keys) : exchange(next, keys);
}

/** The signers that sent each key (hex), without this signer's own keys. */
function recommendations(
  account: MultisigAccount,
  messages: readonly KeyExchangeMessage[],
  excluded: readonly Uint8Array[],
): Map<string, { key: Uint8Array; by: Set<string> }> {
  const own = toHex(publicKeyOf(account.baseSecret));
  const ignored = new Set([own, ...excluded.map(toHex)]);
  const recommendationsByKey = new Map<string, { key: Uint8Array; by: Set<string> }>();
  for (const { round, signer, keys } of messages) {
    if (toHex(signer) === own) continue;
    for (const key of round === 1 ? [signer] : keys) {
      const name = toHex(key);
      if (ignored.has(name)) continue;
      const entry = recommendationsByKey.get(name) ?? { key, by: new Set() };
      recommendationsByKey.set(name, { key, by: entry.by.add(toHex(signer)) });
    }
  }
  return recommendationsByKey;
}

/**
 * The keys of a round, each sent by exactly as many signers as must share it; in a forced round by at least one of
 * them.
 */
function recommendedKeys(
  account: MultisigAccount,
  messages: readonly KeyExchangeMessage[],
  { round, isForced }: { readonly round: number; readonly isForced: boolean },
): Uint8Array[] {
  const { signers, roundKeys } = account;
  const recommended = [...recommendations(account, messages, roundKeys).values()];
  demand(
    recommended.length === choose(signers.length - 1, round) &&
      recommended.every(({ by }) => (isForced ? by.size <= round : by.size === round)),
    "A pubkey recommended by multisig kex messages had an unexpected number of recommendations.",
  );
  const countOf = new Map<string, number>();
  for (const { by } of recommended) for (const name of by) countOf.set(name, (countOf.get(name) ?? 0) + 1);
  const missing = signers.length - 1 - countOf.size;
  demand(
    missing === 0 || (isForced && missing > 0 && missing < round),
    "Number of unique other signers does not equal number of other signers that recommended pubkeys.",
  );
  const keys = new Set(signers.map(toHex));
  const expected = choose(signers.length - 2, round - 1);
  for (const [name, count] of countOf) {
    demand(keys.has(name), "Multisig kex message with unexpected signer encountered.");
    demand(
      count === expected,
      "A pubkey recommended by multisig kex messages had an unexpected number of recommendations.",
    );
  }
  demand(
    roundKeys.length === choose(signers.length - 1, round - 1),
    "Local account did not recommend expected number of multisig keys.",
  );
  return recommended.map(({ key }) => key).sort(compareBytes);
}

/** Number of ways to choose `k` of `n`. */
export function choose(n: number, k: number): number {
  let ways = k > n ? 0 : 1;
  for (let i = 0; i < k && ways > 0; i++) ways = (ways * (n - i)) / (i + 1);
  return ways;
}

/** A round before the last: a secret shared with the senders of each key. */
function exchange(account: MultisigAccount, keys: readonly Uint8Array[]): MultisigAccount {
  const derivations = keys.map((key) => generateKeyDerivation(key, account.baseSecret)).sort(compareBytes);
  if (account.roundsComplete + 1 < roundsRequired(account)) return { ...account, roundKeys: derivations };
  // In the last round public keys of the shares are sent, not the shared secrets themselves.
  const shares = derivations.map(blindedSecret);
  return { ...account, shares, roundKeys: shares.map(publicKeyOf) };
}

/** The last round: the public keys of all shares of the address are known. */
function aggregate(account: MultisigAccount, others: readonly Uint8Array[]): MultisigAccount {
  const ownKeys = account.shares.map(publicKeyOf);
  const all = [...others, ...ownKeys].sort(compareBytes);
  demand(new Set(all.map(toHex)).size === all.length, "Unexpected duplicate found in input list.");
  const weighted = account.shares.map((share, i) => scMul(weightIn(all, ownKeys[i]!), share));
  return { ...account, shares: weighted, spendPublic: pointSum(weightedKeys(all)), roundKeys: [] };
}

/** The factor of a key in a sorted set, which prevents that a signer chooses a key that cancels the others. */
function weightIn(sorted: readonly Uint8Array[], key: Uint8Array): Uint8Array {
  return hashToScalar(key, ...sorted, aggregationSalt);
}

/** The keys of a sorted set with their factors; their sum is the address's spend key. */
export function weightedKeys(sorted: readonly Uint8Array[]): Uint8Array[] {
  return sorted.map((key) => scalarMult(weightIn(sorted, key), key));
}

/** Checks that all others computed the same address; in a forced round, that all who sent messages did. */
function confirm(
  account: MultisigAccount,
  messages: readonly KeyExchangeMessage[],
  isForced: boolean,
): MultisigAccount {
  const { signers, spendPublic, viewPublic, roundsComplete, baseSecret } = account;
  const recommended = recommendations(account, messages, []);
  const own = toHex(publicKeyOf(baseSecret));
  const others = signers.map(toHex).filter((name) => name !== own);
  for (const key of [spendPublic, viewPublic]) {
    const by = recommended.get(toHex(key))?.by ?? new Set();
    demand(by.size > 0 || recommended.size === 0, "the other signers have come to another address");
    const isUnanimous = by.size === others.length && others.every((name) => by.has(name));
    demand(isForced || isUnanimous, "not all other signers have confirmed the address");
  }
  demand(recommended.size <= 2, "the other signers' strings confirm more than the address");
  const voices = [...recommended.values()].map(({ by }) => [...by].sort());
  demand(
    voices.every((by) => by.join() === voices[0]!.join() && by.every((name) => others.includes(name))),
    "not all keys of the address are confirmed by the same signers",
  );
  return { ...account, roundsComplete: roundsComplete + 1 };
}

/** Checks that a stored account is consistent; throws KeyExchangeRefused. */
export function checkAccount(account: MultisigAccount): void {
  const { threshold, signers, roundsComplete, baseSecret, commonSecret, shares } = account;
  demand(
    [baseSecret, commonSecret, ...shares].every(scIsCanonical),
    "multisig account: a secret is not below the group order",
  );
  const own = publicKeyOf(baseSecret);
  demand(threshold > 0 && threshold <= signers.length, "multisig account: tried to set invalid threshold.");
  demand(
    signers.length >= 2 && signers.length <= MAX_SIGNERS,
    "multisig account: tried to set invalid number of signers.",
  );
  demand(signers.every(isPublicKey), "multisig account: a signer's key is none");
  demand(
    signers.some((key) => equalBytes(key, own)),
    "multisig account: the own key is not among the signers'",
  );
  demand(new Set(signers.map(toHex)).size === signers.length, "multisig account: a signer is named twice");
  demand(
    roundsComplete > 0 && roundsComplete <= roundsRequired(account) + 1,
    "multisig account: more rounds than there are",
  );
}
