/**
 * Every job that runs off the event loop, declared once: its input, its output, and which bytes are wiped afterwards.
 */
import { randomBytes } from "node:crypto";
import { areInMainSubgroup, type ClsagFrame, cnSlowHash, verifyClsag, wipe } from "@anulo/crypto";
import {
  checkKeyImage,
  type OutputToSign,
  type SignedKeyImage,
  signKeyImage,
} from "../cold-signing/key-images.ts";
import { addToAttempt } from "../multisig/attempts.ts";
import {
  continueKeyExchange,
  KeyExchangeRefused,
  type MultisigAccount,
  type OrdinarySecrets,
  startKeyExchange,
} from "../multisig/key-exchange.ts";
import { BadKeyExchangeMessage } from "../multisig/key-exchange-message.ts";
import { buildProposal, type Proposer } from "../multisig/proposal.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { type Checking, checkEntries, type EntryToCheck } from "../proofs/check-reserve.ts";
import { type OutputToProve, type Proving, proveOutputs } from "../proofs/reserve-proof.ts";
import { WalletRefusal } from "../refusal.ts";
import { withKeyImages } from "../scan/background-images.ts";
import { type PackedTransactions, unpackTransactions } from "../scan/raw-transaction.ts";
import type { SecretPair } from "../scan/scan-transaction.ts";
import { readKeys, siftKeys } from "../scan/sift.ts";
import type { ScannedTransaction, SpendKeys } from "../state.ts";
import { matchingTags } from "../tag-pattern.ts";
import type { SigningAttempt } from "../transfer/metadata.ts";
import { sign } from "../transfer/sign.ts";
import type { RingedTransaction, SigningKeys } from "../transfer/stages.ts";

type Secrets = readonly (Uint8Array | undefined)[];

/**
 * Runs synchronously; `secrets` and `made` return the parts of its input and output that must not stay in the thread's
 * memory.
 */
export interface Job<Input, Output> {
  readonly run: (input: Input) => Output;
  readonly secrets: (input: Input) => Secrets;
  readonly secretsOfOutput: (output: Output) => Secrets;
}

function job<Input, Output>(
  run: (input: Input) => Output,
  secrets: (input: Input) => Secrets,
  secretsOfOutput: (output: Output) => Secrets = () => [],
): Job<Input, Output> {
  return { run, secrets, secretsOfOutput };
}

/** A job that applies the same function to every item of a list, so that several threads can share the list. */
function each<Item, Common extends object, Output>(
  step: (item: Item, common: Common) => Output,
  secrets: (common: Common) => Secrets,
) {
  return share((items: readonly Item[], common: Common) => items.map((item) => step(item, common)), secrets);
}

/** A job on a list that can be split, so that several threads process a part each. */
function share<Item, Common extends object, Output>(
  step: (items: readonly Item[], common: Common) => Output,
  secrets: (common: Common) => Secrets,
) {
  return job(
    ({ items, common }: { readonly items: readonly Item[]; readonly common: Common }): Output =>
      step(items, common),
    ({ common }) => secrets(common),
  );
}

const secretsOf = ({ viewSecret, spendSecret }: SpendKeys) => [viewSecret, spendSecret];

const secretsOfAccount = ({ baseSecret, commonSecret, shares }: MultisigAccount) => [
  baseSecret,
  commonSecret,
  ...shares,
];

/** Runs a step of the key exchange and turns its errors into those that callers know. */
function exchanging(step: () => MultisigAccount, prefix = ""): MultisigAccount {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof KeyExchangeRefused || error instanceof BadKeyExchangeMessage)) throw error;
    throw new WalletRefusal("UNKNOWN_ERROR", `${prefix}${error.message}`);
  }
}

export const jobs = {
  /** A range proof for many outputs, and a ring signature for each input: tens of milliseconds to seconds. */
  sign: job(
    ({
      ringed,
      signing,
    }: {
      readonly ringed: RingedTransaction;
      readonly signing: Omit<SigningKeys, "random">;
    }) => sign(ringed, { ...signing, random: randomBytes }),
    ({ signing }) => secretsOf(signing.keys),
    ({ txKeys }) => txKeys,
  ),
  /** CryptoNight, some 40 ms per round. */
  slowHash: job(
    slowHashRounds,
    ({ bytes }) => [bytes],
    (hash) => [hash],
  ),
  /** The first half of scanning. */
  sift: job(
    ({ viewSecrets, transactions }: ToSift) =>
      siftKeys(viewSecrets, readKeys(unpackTransactions(transactions))),
    ({ viewSecrets }) => [viewSecrets],
    (results) => results.map(({ derivations }) => derivations),
  ),
  signKeyImages: each(
    (output: OutputToSign, { keys }: { readonly keys: SpendKeys }) => signKeyImage(output, { keys }),
    ({ keys }) => secretsOf(keys),
  ),
  findKeyImages: share(
    (transactions: readonly ScannedTransaction[], { keys }: { readonly keys: SecretPair }) =>
      withKeyImages(transactions, keys),
    ({ keys }) => [keys.viewSecret, keys.spendSecret],
  ),
  checkKeyImages: each(
    ({ image, output, place }: KeyImageToCheck, _: object) => checkKeyImage(image, output, place),
    () => [],
  ),
  proveReserve: share(
    (outputs: readonly OutputToProve[], proving: Proving) => proveOutputs(outputs, proving),
    ({ keys }) => secretsOf(keys),
  ),
  checkReserve: share(
    (entries: readonly EntryToCheck[], checking: Checking) => checkEntries(entries, checking),
    () => [],
  ),
  /** Rounds of a key exchange: thousands of keys between sixteen signers, each checked and multiplied. */
  startKeyExchange: job(
    ({ secrets, texts, threshold }: FirstRound) =>
      exchanging(() => startKeyExchange(secrets, texts, threshold)),
    ({ secrets: { spendSecret, viewSecret } }) => [spendSecret, viewSecret],
    secretsOfAccount,
  ),
  continueKeyExchange: job(
    ({ account, texts, isForced, prefix }: NextRound) =>
      exchanging(() => continueKeyExchange(account, texts, { isForced }), prefix),
    ({ account }) => secretsOfAccount(account),
    secretsOfAccount,
  ),
  /** As `sign`, for several signers; one attempt for every group of them. */
  propose: job(
    ({ ringed, proposer }: { readonly ringed: RingedTransaction; readonly proposer: Proposer }) =>
      buildProposal(ringed, proposer),
    ({ proposer }) => secretsOfAccount(proposer.account),
    ({ signed, entropy }) => [...signed.txKeys, entropy],
  ),
  /** One signer's part: one pass over every ring. */
  addToAttempt: job(
    ({ attempt, frames, ...signer }: AttemptPart) => addToAttempt(attempt, frames, signer),
    ({ account, nonces }) => [...secretsOfAccount(account), ...nonces.flat()],
  ),
  verifyRings: each(
    (frame: ClsagFrame, _: object) => verifyClsag(frame),
    () => [],
  ),
  arePoints: share(
    (points: readonly Uint8Array[], _: object) => areInMainSubgroup(points),
    () => [],
  ),
  /** The pattern comes from a caller and matching may take any time. */
  matchTags: job(
    ({ pattern, tags }: { readonly pattern: string; readonly tags: readonly string[] }) =>
      matchingTags(pattern, tags),
    () => [],
  ),
} as const;

type ToSift = { readonly viewSecrets: Uint8Array; readonly transactions: PackedTransactions };

/** `texts`: the other signers' strings. */
type FirstRound = {
  readonly secrets: OrdinarySecrets;
  readonly texts: readonly string[];
  readonly threshold: number;
};

type NextRound = {
  readonly account: MultisigAccount;
  readonly texts: readonly string[];
  /** Whether the strings of some signers may be missing. */
  readonly isForced: boolean;
  /** Prefix of error messages. */
  readonly prefix: string;
};

type AttemptPart = {
  readonly attempt: SigningAttempt;
  readonly frames: readonly ClsagFrame[];
  readonly account: MultisigAccount;
  /** One list of nonces per input. */
  readonly nonces: readonly (readonly Uint8Array[])[];
};

type KeyImageToCheck = {
  readonly image: SignedKeyImage;
  readonly output: OwnedOutput;
  /** Returned to the caller, to identify the attempt. */
  readonly place: string;
};

/** CryptoNight applied repeatedly to the bytes: 32 bytes. */
function slowHashRounds({
  bytes,
  rounds,
}: {
  readonly bytes: Uint8Array;
  readonly rounds: number;
}): Uint8Array {
  let hash = bytes;
  for (let round = 0; round < rounds; round++) {
    const next = cnSlowHash(hash);
    if (round > 0) wipe(hash);
    hash = next;
  }
  return hash;
}

export type JobName = keyof typeof jobs;
export type JobInput<K extends JobName> = Parameters<(typeof jobs)[K]["run"]>[0];
export type JobOutput<K extends JobName> = ReturnType<(typeof jobs)[K]["run"]>;
