/**
 * A signer rebuilds every proposed transaction from its description, and signs it only if the result is the same.
 * Source: multisig_tx_builder_ringct.cpp `init` with `reconstruction`.
 */
import { setImmediate } from "node:timers/promises";
import {
  type ClsagFrame,
  commit,
  commitmentMask,
  commitmentsBalance,
  encodeAmount,
  InvalidPoint,
  verifyBulletproofsPlus,
  wipe,
} from "@anulo/crypto";
import {
  type ExtraField,
  encryptedPaymentId,
  equalBytes,
  parseExtra,
  paymentIdNonce,
  relativeOffsets,
  ringCtMessage,
  type Transaction,
  toHex,
  writeExtra,
} from "@anulo/protocol";
import { checkForm, ringOf } from "../cold-signing/construction.ts";
import type { Finder } from "../cold-signing/exported-outputs.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { WalletRefusal } from "../refusal.ts";
import type { ViewKeys, WalletState } from "../state.ts";
import { isChange } from "../transfer/change.ts";
import type { SeenChain } from "../transfer/fee-limits.ts";
import { type ConstructionData, feeOfConstruction, type PendingTransaction } from "../transfer/metadata.ts";
import {
  cryptPaymentId,
  type OutputPlan,
  outputKeys,
  paymentIdReceiver,
  txPublicKeys,
} from "../transfer/tx-keys.ts";
import { mapPatiently } from "../turns.ts";
import { SigningRefused } from "./attempts.ts";
import { txSecretsOf } from "./tx-secrets.ts";

/** One input as all signers have it, and the output of this wallet that it spends. */
export interface ReconstructedInput {
  readonly frame: ClsagFrame;
  readonly output: OwnedOutput;
}

/** The parts of the signer's own wallet that a check uses. */
export type SigningWallet = Pick<Finder, "indexOfSpendKey"> & {
  readonly keys: Pick<ViewKeys, "viewSecret">;
  readonly state: SeenChain & Pick<WalletState, "outputs">;
};

function demand(holds: boolean, message: string): asserts holds {
  if (!holds) throw new SigningRefused(message);
}

function plansOf({ splitDestinations, change }: ConstructionData): OutputPlan[] {
  return splitDestinations.map((entry) => ({
    spendPublic: entry.spendPublic,
    viewPublic: entry.viewPublic,
    amount: entry.amount,
    isSubaddress: entry.isSubaddress === 1,
    isChange: isChange(entry, change),
  }));
}

type Source = ConstructionData["sources"][number];

const realOf = ({ outputs, realOutput }: Source) => outputs[Number(realOutput)];

/** Number of inputs checked before yielding to the event loop: some milliseconds. */
const INPUTS_AT_ONCE = 32;

/** The output of this wallet that a source spends. */
function ownOutput(source: Source, { state }: SigningWallet): OwnedOutput {
  const { amount, mask } = source;
  const real = realOf(source);
  const output = real && state.outputs.withKey(real.key);
  demand(output?.keyImage !== undefined, "an input is not known here, or needs multisig info first");
  demand(!output.frozen, "Will not sign multisig tx containing frozen outputs");
  const isTrue = output.amount === amount && equalBytes(output.mask, mask);
  demand(isTrue && equalBytes(commit(mask, amount), real!.commitment), "an input has another amount");
  return output;
}

/** The outputs of this wallet that the sources refer to, in the order of the inputs. */
async function ownInputs(data: ConstructionData, transaction: Transaction, wallet: SigningWallet) {
  const bySource = await mapPatiently(
    data.sources,
    (source) => ({ output: ownOutput(source, wallet), ring: ringOf(source) }),
    { stepsAtOnce: INPUTS_AT_ONCE },
  );
  const names = new Set(bySource.map(({ output }) => toHex(output.oneTimeKey)));
  demand(names.size === bySource.length, "an output is spent twice");
  return transaction.prefix.inputs.map((input) => {
    demand(input.type === "key" && input.amount === 0n, "an input is no RingCT output");
    const spent = bySource.find(({ output }) => equalBytes(output.keyImage!, input.keyImage));
    demand(spent !== undefined, "a key image is not that of the output it is said to spend");
    const offsets = relativeOffsets(spent.ring.members.map(({ globalIndex }) => BigInt(globalIndex)));
    demand(
      offsets.length === input.keyOffsets.length &&
        offsets.every((offset, i) => offset === input.keyOffsets[i]),
      "a ring is not the one it is said to be",
    );
    return { ...spent, keyImage: input.keyImage };
  });
}

/**
 * Checks that transaction keys, one-time keys, `extra` and encrypted amounts are those that follow from the
 * construction data.
 */
function checkOutputs(
  pending: PendingTransaction,
  keyImages: readonly Uint8Array[],
  wallet: SigningWallet,
): void {
  const { constructionData: data, transaction, txKey, additionalTxKeys, multisigEntropy } = pending;
  const { prefix, ringct } = transaction;
  demand(ringct !== undefined && ringct.type === 6, "it is no transaction of today's kind");
  const outputs = plansOf(data);
  const secrets = txSecretsOf(outputs, multisigEntropy, keyImages);
  const secretKeys = [txKey, ...additionalTxKeys].map(toHex).join();
  demand(
    [secrets.main, ...secrets.additional].map(toHex).join() === secretKeys,
    "its secret keys are not those agreed on",
  );
  const publicKeys = txPublicKeys(outputs, secrets);
  const context = { secrets, publicKeys, viewSecret: wallet.keys.viewSecret };
  demand(prefix.outputs.length === outputs.length, "it has other outputs");
  demand(ringct.outputCommitments.length === outputs.length, "it has other commitments");
  for (const [i, output] of outputs.entries()) {
    const { oneTimeKey, viewTag, amountKey } = outputKeys(output, i, context);
    const target = prefix.outputs[i]!.target;
    const isDeclared =
      target.type === "taggedKey" && equalBytes(target.key, oneTimeKey) && target.viewTag === viewTag;
    demand(isDeclared && prefix.outputs[i]!.amount === 0n, "an output does not go where it is said to go");
    const commitment = commit(commitmentMask(amountKey), output.amount);
    demand(equalBytes(ringct.outputCommitments[i]!, commitment), "an output has another amount");
    const hidden = encodeAmount(output.amount, amountKey);
    demand(equalBytes(ringct.ecdhInfo[i]!.amount, hidden), "an amount cannot be read by its receiver");
    wipe(amountKey);
  }
  const fields: ExtraField[] = [{ type: "publicKey", key: publicKeys.main }];
  if (publicKeys.additional.length > 0)
    fields.push({ type: "additionalPublicKeys", keys: [...publicKeys.additional] });
  demand(
    equalBytes(prefix.extra, extraOf(data, { outputs, fields, secret: secrets.main })),
    "its extra is another",
  );
}

/** The payment id is decrypted in the construction data, and encrypted in the transaction. */
function extraOf(
  data: ConstructionData,
  { outputs, fields, secret }: { outputs: readonly OutputPlan[]; fields: ExtraField[]; secret: Uint8Array },
): Uint8Array {
  const extraFields = parseExtra(data.extra);
  const otherFields = extraFields.filter(
    ({ type }) => type !== "publicKey" && type !== "additionalPublicKeys",
  );
  const paymentId = encryptedPaymentId(extraFields);
  const { spendPublic, viewPublic, isSubaddress } = data.change;
  const change = { spendPublic, viewPublic, isSubaddress: isSubaddress === 1 };
  const receiver = paymentIdReceiver(outputs, change);
  if (paymentId === undefined || receiver === undefined) return writeExtra([...fields, ...otherFields]);
  const nonce = paymentIdNonce(cryptPaymentId(paymentId, receiver, secret));
  return writeExtra([...fields, ...otherFields.filter(({ type }) => type !== "nonce"), nonce]);
}

function checkAmounts({ constructionData, transaction, fee }: PendingTransaction): void {
  const { ringct } = transaction;
  demand(ringct !== undefined && ringct.type === 6 && ringct.prunable !== undefined, "it has no proofs");
  const described = feeOfConstruction(constructionData);
  demand(ringct.fee === described && fee === ringct.fee, "its fee is not the difference of its amounts");
  const { pseudoOuts, outputCommitments: commitments, prunable } = ringct;
  demand(commitmentsBalance(pseudoOuts, commitments, ringct.fee), "it does not balance");
  const [proof, ...more] = prunable.bulletproofsPlus;
  demand(proof !== undefined && more.length === 0, "it has not one range proof");
  demand(verifyBulletproofsPlus([{ proof, commitments }]), "its range proof does not hold");
}

/** Checks that the declared change returns to this wallet, so that it is not a hidden payment. */
function checkChange({ change }: ConstructionData, wallet: SigningWallet): void {
  const isOwn = change.amount === 0n || wallet.indexOfSpendKey(change.spendPublic) !== undefined;
  demand(isOwn, "the change goes to an address that is not of this wallet");
}

/**
 * The inputs to sign, once the transaction is verified to match its description; in turns, since it may have hundreds.
 * Throws SigningRefused.
 */
export async function reconstruct(
  pending: PendingTransaction,
  wallet: SigningWallet,
): Promise<ReconstructedInput[]> {
  const { constructionData: data, transaction } = pending;
  try {
    checkForm(data, wallet.state);
    demand(transaction.prefix.version === 2, "it is no RingCT transaction");
    demand(transaction.prefix.unlockTime === data.unlockTime, "it has another unlock time");
    demand(transaction.prefix.inputs.length === data.sources.length, "it has other inputs");
    checkChange(data, wallet);
    const inputs = await ownInputs(data, transaction, wallet);
    checkOutputs(
      pending,
      inputs.map(({ keyImage }) => keyImage),
      wallet,
    );
    await setImmediate();
    checkAmounts(pending);
    return framesOf(transaction, inputs);
  } catch (error) {
    if (error instanceof WalletRefusal || error instanceof InvalidPoint)
      throw new SigningRefused(error.message);
    throw error;
  }
}

function framesOf(
  transaction: Transaction,
  inputs: Awaited<ReturnType<typeof ownInputs>>,
): ReconstructedInput[] {
  const { ringct } = transaction;
  if (ringct === undefined || ringct.type !== 6) throw new SigningRefused("it has no proofs");
  const proofs = ringct.prunable?.clsags ?? [];
  demand(
    proofs.length === inputs.length && ringct.pseudoOuts.length === inputs.length,
    "it has other proofs",
  );
  const message = ringCtMessage(transaction);
  return inputs.map(({ output, ring, keyImage }, i) => {
    const { members, realIndex } = ring;
    const proof = proofs[i]!;
    demand(proof.s.length === members.length, "a proof has another size than its ring");
    return {
      output,
      frame: { message, ring: members, pseudoOut: ringct.pseudoOuts[i]!, keyImage, proof, realIndex },
    };
  });
}
