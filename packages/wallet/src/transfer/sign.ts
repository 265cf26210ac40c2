/**
 * From a ringed transaction to a signed one.
 * Source: cryptonote_tx_utils.cpp `construct_tx_with_tx_key`; rctSigs.cpp `genRctSimple`.
 */
import {
  commit,
  commitmentMask,
  encodeAmount,
  generateKeyDerivation,
  proveBulletproofPlus,
  type RandomSource,
  randomScalar,
  scAdd,
  scSub,
  signClsag,
  wipe,
} from "@anulo/crypto";
import {
  compareBytes,
  relativeOffsets,
  ringCtMessage,
  type Transaction,
  type TransactionPrefix,
  transactionHash,
  transactionWeight,
  writeTransaction,
} from "@anulo/protocol";
import { oneTimeSecret } from "../scan/scan-transaction.ts";
import { extraOf, nobody, outputsOf } from "./outputs.ts";
import { shuffled } from "./random.ts";
import {
  type Input,
  listedAmount,
  type RingedTransaction,
  type SignedTransaction,
  type SigningKeys,
} from "./stages.ts";
import { createTxSecrets, type OutputKeys, outputKeys, txPublicKeys } from "./tx-keys.ts";
import { withRingSignatures } from "./visible.ts";

/** Inputs in descending order of key images. Source: blockchain.cpp, hard fork 7. */
export function sortedInputs({ inputs, rings }: RingedTransaction): Input[] {
  return inputs
    .map((output, i) => ({ output, ring: rings[i]! }))
    .sort((a, b) => compareBytes(b.output.keyImage!, a.output.keyImage!));
}

/** `amounts` (atomic units): of the outputs, if they are public. */
export function prefixOf(
  ringed: RingedTransaction,
  inputs: readonly Input[],
  outputParts: { keys: readonly OutputKeys[]; extra: Uint8Array; amounts?: readonly bigint[] },
): TransactionPrefix {
  return {
    version: ringed.isVisible === true ? 1 : 2,
    unlockTime: ringed.unlockTime,
    inputs: inputs.map(({ output, ring }) => ({
      type: "key",
      amount: listedAmount(output),
      keyOffsets: relativeOffsets(ring.members.map(({ globalIndex }) => BigInt(globalIndex))),
      keyImage: output.keyImage!,
    })),
    outputs: outputParts.keys.map(({ oneTimeKey, viewTag }, i) => ({
      amount: outputParts.amounts?.[i] ?? 0n,
      target: { type: "taggedKey", key: oneTimeKey, viewTag },
    })),
    extra: outputParts.extra,
  };
}

/** Masks of the pseudo outputs: random except for the last, which makes their sum equal that of the outputs' masks. */
export function pseudoMasks(
  count: number,
  outputMasks: readonly Uint8Array[],
  random: RandomSource,
): Uint8Array[] {
  const masks = Array.from({ length: count - 1 }, () => randomScalar(random));
  const total = outputMasks.reduce(scAdd);
  return [...masks, masks.reduce(scSub, total)];
}

function signInput(
  input: Input,
  signing: SigningKeys,
  pseudo: { message: Uint8Array; mask: Uint8Array; commitment: Uint8Array },
) {
  const { output, ring } = input;
  const derivation = generateKeyDerivation(output.txPublicKey, signing.keys.viewSecret);
  const secretKey = oneTimeSecret(signing.keys, { derivation, ...output });
  const secretMask = scSub(output.mask, pseudo.mask);
  try {
    const { members, realIndex } = ring;
    const { message, commitment: pseudoOut } = pseudo;
    return signClsag({
      message,
      ring: members,
      pseudoOut,
      secretKey,
      secretMask,
      realIndex,
      random: signing.random,
    }).proof;
  } finally {
    wipe(derivation, secretKey, secretMask);
  }
}

type Amounts = {
  readonly amounts: readonly bigint[];
  readonly keys: readonly OutputKeys[];
  readonly fee: bigint;
};

/** Adds the RingCT part; its signatures come last because they sign all the rest. */
function withRingCt(
  prefix: TransactionPrefix,
  inputs: readonly Input[],
  amounts: Amounts,
  signing: SigningKeys,
): Transaction {
  const masks = amounts.keys.map(({ amountKey }) => commitmentMask(amountKey));
  const { proof, commitments } = proveBulletproofPlus(amounts.amounts, masks, signing.random);
  const inputMasks = pseudoMasks(inputs.length, masks, signing.random);
  const pseudoOuts = inputs.map(({ output }, i) => commit(inputMasks[i]!, output.amount));
  const ecdhInfo = amounts.keys.map(({ amountKey }, i) => ({
    amount: encodeAmount(amounts.amounts[i]!, amountKey),
  }));
  const base = { type: 6 as const, fee: amounts.fee, pseudoOuts, ecdhInfo, outputCommitments: commitments };
  const unsigned = { rangeSigs: [], bulletproofs: [], bulletproofsPlus: [proof], mgs: [], clsags: [] };
  const message = ringCtMessage({ prefix, signatures: [], ringct: { ...base, prunable: unsigned } });
  try {
    const clsags = inputs.map((input, i) =>
      signInput(input, signing, { message, mask: inputMasks[i]!, commitment: pseudoOuts[i]! }),
    );
    return { prefix, signatures: [], ringct: { ...base, prunable: { ...unsigned, clsags } } };
  } finally {
    wipe(...masks, ...inputMasks);
  }
}

/** Generates keys, range proof and signatures. The result's `txKeys` are secret. */
export function sign(ringed: RingedTransaction, signing: SigningKeys): SignedTransaction {
  const outputs = shuffled(
    outputsOf(ringed, { change: signing.change, dummy: nobody(signing.random) }),
    signing.random,
  );
  const secrets = createTxSecrets(outputs, signing.random);
  const publicKeys = txPublicKeys(outputs, secrets);
  const context = { secrets, publicKeys, viewSecret: signing.keys.viewSecret };
  const keys = outputs.map((output, i) => outputKeys(output, i, context));
  const extra = extraOf(ringed, outputs, { change: signing.change, secrets, publicKeys });
  const inputs = sortedInputs(ringed);
  const amounts = outputs.map(({ amount }) => amount);
  const transaction =
    ringed.isVisible === true
      ? withRingSignatures(prefixOf(ringed, inputs, { keys, extra, amounts }), inputs, signing)
      : withRingCt(
          prefixOf(ringed, inputs, { keys, extra }),
          inputs,
          { amounts, keys, fee: ringed.fee },
          signing,
        );
  wipe(...keys.map(({ amountKey }) => amountKey));
  const blob = writeTransaction(transaction);
  return {
    ...ringed,
    transaction,
    blob,
    txHash: transactionHash(transaction),
    weight: transactionWeight(transaction, blob.length),
    txKeys: [secrets.main, ...secrets.additional],
  };
}
