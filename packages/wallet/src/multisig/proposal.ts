/**
 * Builds a transaction of a multisig wallet, and signs it for the first signer. Source: multisig_tx_builder_ringct.cpp.
 */
import { randomBytes } from "node:crypto";
import {
  commit,
  commitmentImage,
  commitmentMask,
  encodeAmount,
  proveBulletproofPlus,
  randomScalar,
  scSub,
  wipe,
} from "@anulo/crypto";
import {
  type Clsag,
  equalBytes,
  ringCtMessage,
  type Transaction,
  toHex,
  transactionHash,
  transactionWeight,
  writeTransaction,
} from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";
import type { SignerInfo } from "../state.ts";
import type { SigningAttempt } from "../transfer/metadata.ts";
import { extraOf, nobody, outputsOf } from "../transfer/outputs.ts";
import { shuffled } from "../transfer/random.ts";
import { prefixOf, pseudoMasks, sortedInputs } from "../transfer/sign.ts";
import type { Input, Receiver, RingedTransaction, SignedTransaction } from "../transfer/stages.ts";
import { type OutputPlan, outputKeys, txPublicKeys } from "../transfer/tx-keys.ts";
import { signerKeyOf } from "./account-keys.ts";
import { ignoreSets, type ProposedInput, proposeAttempt, SigningRefused } from "./attempts.ts";
import type { MultisigAccount } from "./key-exchange.ts";
import { txSecretsOf } from "./tx-secrets.ts";

/** Builds everything but the responses of the real members. */
function build(ringed: RingedTransaction, { account, change }: Proposer) {
  const random = randomBytes;
  const dummy = nobody(random);
  const outputs = shuffled(outputsOf(ringed, { change, dummy }), random);
  const inputs = sortedInputs(ringed);
  const entropy = randomScalar(random);
  const secrets = txSecretsOf(
    outputs,
    entropy,
    inputs.map(({ output }) => output.keyImage!),
  );
  const publicKeys = txPublicKeys(outputs, secrets);
  const context = { secrets, publicKeys, viewSecret: account.commonSecret };
  const keys = outputs.map((output, i) => outputKeys(output, i, context));
  const prefix = prefixOf(ringed, inputs, {
    keys,
    extra: extraOf(ringed, outputs, { change, secrets, publicKeys }),
  });
  const masks = keys.map(({ amountKey }) => commitmentMask(amountKey));
  const amounts = outputs.map(({ amount }) => amount);
  const { proof, commitments } = proveBulletproofPlus(amounts, masks, random);
  const inputMasks = pseudoMasks(inputs.length, masks, random);
  const base = {
    type: 6 as const,
    fee: ringed.fee,
    outputCommitments: commitments,
    pseudoOuts: inputs.map(({ output }, i) => commit(inputMasks[i]!, output.amount)),
    ecdhInfo: keys.map(({ amountKey }, i) => ({ amount: encodeAmount(amounts[i]!, amountKey) })),
  };
  const unsigned = {
    rangeSigs: [],
    bulletproofs: [],
    bulletproofsPlus: [proof],
    mgs: [],
    clsags: [] as Clsag[],
  };
  const message = ringCtMessage({ prefix, signatures: [], ringct: { ...base, prunable: unsigned } });
  const proposed = inputs.map((input, i) =>
    frameOf(input, {
      message,
      pseudoOut: base.pseudoOuts[i]!,
      secretMask: scSub(input.output.mask, inputMasks[i]!),
    }),
  );
  // These secrets reveal which members of the rings are spent, and all amounts.
  wipe(...masks, ...inputMasks, ...keys.map(({ amountKey }) => amountKey));
  unsigned.clsags.push(...proposed.map(({ frame }) => frame.proof));
  const transaction: Transaction = { prefix, signatures: [], ringct: { ...base, prunable: unsigned } };
  return { transaction, inputs, outputs, secrets, entropy, proposed };
}

/** One input with random responses for its decoys, identical for all signers. */
function frameOf(
  { output, ring }: Input,
  { message, pseudoOut, secretMask }: { message: Uint8Array; pseudoOut: Uint8Array; secretMask: Uint8Array },
): ProposedInput {
  const { members, realIndex } = ring;
  const s = members.map((_, i) => (i === realIndex ? new Uint8Array(32) : randomScalar()));
  const proof = { s, c1: new Uint8Array(32), D: commitmentImage(output.oneTimeKey, secretMask) };
  const frame = { message, ring: members, pseudoOut, keyImage: output.keyImage!, proof, realIndex };
  return { frame, output, secretMask };
}

/** The signer that proposes, in a multisig wallet. */
export interface Proposer {
  readonly account: MultisigAccount;
  readonly change: Receiver;
  /** The other signers' exports, by hex one-time key of the inputs. */
  readonly infos: ReadonlyMap<string, readonly SignerInfo[]>;
}

/** Builds an attempt for every group of signers whose nonces are known. Throws `WalletRefusal`. */
function attemptsOf(
  proposed: readonly ProposedInput[],
  account: MultisigAccount,
  infosByKey: Proposer["infos"],
): SigningAttempt[] {
  const infos = proposed.map(({ output }) => infosByKey.get(toHex(output.oneTimeKey)) ?? []);
  const own = signerKeyOf(account);
  const others = infos[0]!.map(({ signer }) => signer).filter((signer) => !equalBytes(signer, own));
  if (others.length + 1 < account.threshold)
    throw new WalletRefusal("UNKNOWN_ERROR", "multisig data from other participants is needed first");
  const used = new Set<string>();
  try {
    return ignoreSets(others, account.threshold).map((ignored) =>
      proposeAttempt(proposed, { account, infos }, { ignored, used }),
    );
  } catch (error) {
    if (error instanceof SigningRefused) throw new WalletRefusal("UNKNOWN_ERROR", error.message);
    throw error;
  }
}

/** A proposal before the indices of its inputs in the wallet are filled in. */
export interface Proposed {
  readonly signed: SignedTransaction;
  readonly outputs: readonly OutputPlan[];
  readonly entropy: Uint8Array;
  readonly attempts: SigningAttempt[];
}

/**
 * Builds a transaction and signs it as the first signer; with a threshold of one it is complete. Throws
 * `WalletRefusal`.
 */
export function buildProposal(ringed: RingedTransaction, proposer: Proposer): Proposed {
  const { account } = proposer;
  const { inputs, outputs, secrets, entropy, proposed, ...built } = build(ringed, proposer);
  const attempts = attemptsOf(proposed, account, proposer.infos);
  wipe(...proposed.map(({ secretMask }) => secretMask));
  const transaction =
    account.threshold === 1 ? withAttempt(built.transaction, proposed, attempts[0]!) : built.transaction;
  const blob = writeTransaction(transaction);
  const signed: SignedTransaction = {
    ...ringed,
    inputs: inputs.map(({ output }) => output),
    rings: inputs.map(({ ring }) => ring),
    transaction,
    blob,
    txHash: transactionHash(transaction),
    weight: transactionWeight(transaction, blob.length),
    txKeys: [secrets.main, ...secrets.additional],
  };
  return { signed, outputs, entropy, attempts };
}

/** The completed transaction: with each real member's response and the first challenge of an attempt. */
export function withAttempt(
  transaction: Transaction,
  inputs: readonly { readonly frame: { readonly realIndex: number } }[],
  { c1, s }: SigningAttempt,
): Transaction {
  const { ringct } = transaction;
  if (ringct === undefined || ringct.type === 0 || ringct.prunable === undefined) return transaction;
  const clsags = ringct.prunable.clsags.map((proof, i) => ({
    D: proof.D,
    c1: c1[i]!,
    s: proof.s.with(inputs[i]!.frame.realIndex, s[i]!),
  }));
  return { ...transaction, ringct: { ...ringct, prunable: { ...ringct.prunable, clsags } } };
}
