/**
 * Adds one signer's part to a set, and completes the set if this signer is the last. Source: wallet2.cpp
 * `sign_multisig_tx`.
 */
import { publicKeyOf, wipe } from "@anulo/crypto";
import { equalBytes, toHex, transactionHash } from "@anulo/protocol";
import { SigningRefused, takeOwnNonces } from "../multisig/attempts.ts";
import type { MultisigAccount } from "../multisig/key-exchange.ts";
import { withAttempt } from "../multisig/proposal.ts";
import { type ReconstructedInput, reconstruct } from "../multisig/reconstruct.ts";
import type { MultisigSet } from "../multisig/tx-set.ts";
import type { WorkThreads } from "../threads/work-threads.ts";
import type { PendingTransaction, SigningAttempt } from "../transfer/metadata.ts";
import type { Wallet } from "../wallet.ts";

const has = (keys: readonly Uint8Array[], key: Uint8Array) => keys.some((each) => equalBytes(each, key));

/** Whether as many have signed as the threshold requires. */
export function isFullySigned(set: MultisigSet, { threshold }: MultisigAccount): boolean {
  return set.signers.length >= threshold;
}

/** Checks that everyone listed as having signed is one of the signers, and is listed once. Throws SigningRefused. */
function checkSigners(set: MultisigSet, account: MultisigAccount): void {
  const isDistinct = new Set(set.signers.map(toHex)).size === set.signers.length;
  if (!isDistinct || !set.signers.every((signer) => has(account.signers, signer)))
    throw new SigningRefused("it names signers who are none of this wallet");
}

/** Copies of the unused nonces of the outputs that a set spends; attempts remove the nonces they use. */
function nonceStock(wallet: Wallet) {
  const remaining = new Map<string, Uint8Array[]>();
  const copies: Uint8Array[] = [];
  const of = (oneTimeKey: Uint8Array): Uint8Array[] => {
    const key = toHex(oneTimeKey);
    const nonces = remaining.get(key);
    if (nonces !== undefined) return nonces;
    const own = (wallet.state.multisigNonces.get(key) ?? []).map((nonce) => nonce.slice());
    remaining.set(key, own);
    copies.push(...own);
    return own;
  };
  return { of, spentKeys: () => [...remaining.keys()], wipe: () => wipe(...copies) };
}

interface Signing {
  readonly inputs: readonly ReconstructedInput[];
  readonly pending: PendingTransaction;
  /** Nonces for each attempt that includes this signer, by input. */
  readonly nonces: ReadonlyMap<SigningAttempt, readonly (readonly Uint8Array[])[]>;
}

interface Parts {
  readonly account: MultisigAccount;
  readonly set: MultisigSet;
  /** The signer's public key. */
  readonly own: Uint8Array;
  readonly stock: ReturnType<typeof nonceStock>;
}

/**
 * Signs every attempt that includes this signer. The nonces are deleted on disk before the first of them is used, so
 * that none ever signs twice. Throws SigningRefused.
 */
export async function cosign(
  wallet: Wallet,
  account: MultisigAccount,
  set: MultisigSet,
): Promise<{ set: MultisigSet; txHashes: Uint8Array[] }> {
  const own = publicKeyOf(account.baseSecret);
  if (set.transactions.length === 0) throw new SigningRefused("No tx found");
  if (has(set.signers, own)) throw new SigningRefused("Transaction already signed by this private key");
  checkSigners(set, account);
  if (isFullySigned(set, account)) throw new SigningRefused("Transaction is already fully signed");
  await wallet.whenReady();
  const stock = nonceStock(wallet);
  try {
    return await signAll(wallet, { account, set, own, stock });
  } finally {
    stock.wipe();
  }
}

async function signAll(
  wallet: Wallet,
  { account, set, own, stock }: Parts,
): Promise<{ set: MultisigSet; txHashes: Uint8Array[] }> {
  const signings: Signing[] = [];
  for (const pending of set.transactions) {
    if (pending.multisigSignatures.length === 0)
      throw new SigningRefused("No signatures found in multisig tx");
    const inputs = await reconstruct(pending, wallet);
    const attempts = pending.multisigSignatures.filter(({ ignoredSigners }) => !has(ignoredSigners, own));
    const take = (attempt: SigningAttempt) =>
      inputs.map(({ output }) => takeOwnNonces(attempt, stock.of(output.oneTimeKey)));
    signings.push({ inputs, pending, nonces: new Map(attempts.map((attempt) => [attempt, take(attempt)])) });
  }
  await wallet.commit({ kind: "multisigNonces", nonces: stock.spentKeys().map((key) => [key, []]) });
  const { threads } = wallet.runtime;
  const isLast = set.signers.length + 1 >= account.threshold;
  const transactions: PendingTransaction[] = [];
  for (const signing of signings) {
    const pending = await signEach(signing, account, threads);
    const signers = { signers: set.signers, own };
    transactions.push(isLast ? await finish(pending, signing.inputs, { ...signers, threads }) : pending);
  }
  const signed = { transactions, signers: [...set.signers, own] };
  return {
    set: signed,
    txHashes: isLast ? transactions.map(({ transaction }) => transactionHash(transaction)) : [],
  };
}

async function signEach(
  { inputs, pending, nonces }: Signing,
  account: MultisigAccount,
  threads: WorkThreads,
): Promise<PendingTransaction> {
  const frames = inputs.map(({ frame }) => frame);
  const multisigSignatures = await Promise.all(
    pending.multisigSignatures.map((attempt) => {
      const own = nonces.get(attempt);
      return own === undefined
        ? attempt
        : threads.run("addToAttempt", { attempt, frames, account, nonces: own });
    }),
  );
  return { ...pending, multisigSignatures };
}

/** The transaction completed from the attempt of exactly those who have signed. */
async function finish(
  pending: PendingTransaction,
  inputs: readonly ReconstructedInput[],
  {
    signers,
    own,
    threads,
  }: { readonly signers: readonly Uint8Array[]; readonly own: Uint8Array; readonly threads: WorkThreads },
): Promise<PendingTransaction> {
  const done = pending.multisigSignatures.filter(
    ({ ignoredSigners }) =>
      !has(ignoredSigners, own) && !signers.some((signer) => has(ignoredSigners, signer)),
  );
  const [attempt, ...more] = done;
  if (attempt === undefined || more.length > 0)
    throw new SigningRefused("no single attempt is that of the signers");
  const transaction = withAttempt(pending.transaction, inputs, attempt);
  const { ringct } = transaction;
  const proofs = ringct === undefined || ringct.type === 0 ? [] : (ringct.prunable?.clsags ?? []);
  const finished = inputs.map(({ frame }, i) => ({ ...frame, proof: proofs[i]! }));
  if ((await threads.map("verifyRings", finished, {})).includes(false))
    throw new SigningRefused("the finished signature does not hold: a signer's part is wrong");
  return { ...pending, transaction };
}
