/**
 * One proposed transaction can be completed by several groups of signers; each group has its own attempt, with its own
 * nonces.
 */
import {
  addNonces,
  addResponses,
  type ClsagFrame,
  clsagChallenge,
  clsagResponse,
  InvalidPoint,
  keyImageOf,
  NONCES_PER_SIGNATURE,
  type NoncePoints,
  publicKeyOf,
  randomScalar,
  wipe,
} from "@anulo/crypto";
import { equalBytes, toHex } from "@anulo/protocol";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import type { SignerInfo } from "../state.ts";
import type { SigningAttempt } from "../transfer/metadata.ts";
import { ownOneTimeSecret, sumOfSecrets } from "./account-keys.ts";
import type { MultisigAccount } from "./key-exchange.ts";

/** Why a set cannot be proposed or signed; the message is for the caller. */
export class SigningRefused extends Error {
  override name = "SigningRefused";
}

/** An input that all signers agree on, and the secret of its commitment, which only the proposer has. */
export interface ProposedInput {
  readonly frame: ClsagFrame;
  readonly output: OwnedOutput;
  readonly secretMask: Uint8Array;
}

const isIn = (keys: readonly Uint8Array[], key: Uint8Array) => keys.some((each) => equalBytes(each, key));

/**
 * Every choice of signers to leave out so that exactly the threshold remains; only the empty choice if all must sign.
 */
export function ignoreSets(others: readonly Uint8Array[], threshold: number): Uint8Array[][] {
  return subsets(others, others.length + 1 - threshold);
}

function subsets<T>(of: readonly T[], size: number): T[][] {
  if (size === 0) return [[]];
  return of.flatMap((first, at) => subsets(of.slice(at + 1), size - 1).map((rest) => [first, ...rest]));
}

/** Points for one nonce of each signer in the group; those taken from the infos are marked as used. */
function takeNonces(
  infos: readonly SignerInfo[],
  own: NoncePoints,
  use: {
    readonly ignored: readonly Uint8Array[];
    readonly used: Set<string>;
    readonly usedNonces: Uint8Array[];
  },
): { total: NoncePoints; signers: number } {
  let [total, signers] = [own, 1];
  for (const { signer, nonces } of infos) {
    if (isIn(use.ignored, signer)) continue;
    const nonce = nonces.find(({ L }) => !use.used.has(toHex(L)));
    if (nonce === undefined) continue;
    use.used.add(toHex(nonce.L));
    use.usedNonces.push(nonce.L);
    total = addNonces(total, nonce);
    signers++;
  }
  return { total, signers };
}

export interface Proposing {
  readonly account: MultisigAccount;
  /** The other signers' exports about the output of each input. */
  readonly infos: readonly (readonly SignerInfo[])[];
}

/** The attempt of one group, signed by this signer with all of its shares. Throws SigningRefused. */
export function proposeAttempt(
  inputs: readonly ProposedInput[],
  { account, infos }: Proposing,
  { ignored, used }: { readonly ignored: readonly Uint8Array[]; readonly used: Set<string> },
): SigningAttempt {
  const usedNonces: Uint8Array[] = [];
  const signed = inputs.map(({ frame, output, secretMask }, i) => {
    const nonces = Array.from({ length: NONCES_PER_SIGNATURE }, () => randomScalar());
    const totals = nonces.map((nonce) => {
      const own = { L: publicKeyOf(nonce), R: keyImageOf(output.oneTimeKey, nonce) };
      const { total, signers } = takeNonces(infos[i]!, own, { ignored, used, usedNonces });
      if (signers < account.threshold) throw new SigningRefused("LR not found for enough participants");
      return total;
    });
    const secretKey = ownOneTimeSecret(account, output);
    try {
      const challenge = clsagChallenge(frame, totals);
      return { totals, c1: challenge.c1, s: clsagResponse(challenge, { nonces, secretKey, secretMask }) };
    } finally {
      wipe(secretKey, ...nonces);
    }
  });
  return {
    version: 1,
    ringctType: 0,
    ringctMessage: new Uint8Array(32),
    ringct: Array<number>(11).fill(0),
    msout: [0, 0],
    ignoredSigners: [...ignored],
    usedNonces: usedNonces,
    signingKeys: account.shares.map(publicKeyOf),
    totalNoncesL: signed.map(({ totals }) => totals.map(({ L }) => L)),
    totalNoncesR: signed.map(({ totals }) => totals.map(({ R }) => R)),
    c1: signed.map(({ c1 }) => c1),
    s: signed.map(({ s }) => s),
  };
}

/**
 * Removes the nonces of one output that an attempt uses from the unused ones, and returns them. Throws SigningRefused.
 */
export function takeOwnNonces(attempt: SigningAttempt, remaining: Uint8Array[]): Uint8Array[] {
  const used = new Set(attempt.usedNonces.map(toHex));
  return Array.from({ length: NONCES_PER_SIGNATURE }, () => {
    const at = remaining.findIndex((nonce) => used.has(toHex(publicKeyOf(nonce))));
    if (at === -1)
      throw new SigningRefused(
        "This signature was made with stale data: export fresh multisig data, which other participants must then use",
      );
    return remaining.splice(at, 1)[0]!;
  });
}

/**
 * The attempt with this signer's part added, from the shares with which no signer has signed yet. Throws
 * SigningRefused.
 */
export function addToAttempt(
  attempt: SigningAttempt,
  frames: readonly ClsagFrame[],
  signer: { readonly account: MultisigAccount; readonly nonces: readonly (readonly Uint8Array[])[] },
): SigningAttempt {
  const fresh = signer.account.shares.filter((share) => !isIn(attempt.signingKeys, publicKeyOf(share)));
  const secretKey = sumOfSecrets(fresh);
  const { totalNoncesL, totalNoncesR, c1, s } = attempt;
  const isWhole = [totalNoncesL, totalNoncesR, c1, s].every(({ length }) => length === frames.length);
  const hasAll = [...totalNoncesL, ...totalNoncesR].every(({ length }) => length === NONCES_PER_SIGNATURE);
  if (!isWhole || !hasAll) throw new SigningRefused("an attempt does not have as many parts as inputs");
  try {
    const parts = frames.map((frame, i) => {
      const totals = totalNoncesL[i]!.map((L, m) => ({ L, R: totalNoncesR[i]![m]! }));
      const challenge = clsagChallenge(frame, totals);
      const own = clsagResponse(challenge, { nonces: signer.nonces[i]!, secretKey });
      return { c1: challenge.c1, s: addResponses(s[i]!, own) };
    });
    return {
      ...attempt,
      signingKeys: [...attempt.signingKeys, ...fresh.map(publicKeyOf)],
      c1: parts.map((part) => part.c1),
      s: parts.map((part) => part.s),
    };
  } catch (error) {
    if (error instanceof InvalidPoint) throw new SigningRefused("a nonce is no point");
    throw error;
  } finally {
    wipe(secretKey);
  }
}
