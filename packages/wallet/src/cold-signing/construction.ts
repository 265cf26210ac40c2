/**
 * Parses transactions that a view-only wallet sends to be signed, and builds the result. Source: wallet2.cpp `sign_tx`.
 */
import {
  commit,
  deriveSubaddressPublicKey,
  deriveViewTag,
  generateKeyDerivation,
  isPoint,
  keyImageOf,
  wipe,
} from "@anulo/crypto";
import {
  additionalPublicKeys,
  encryptedPaymentId,
  equalBytes,
  parseExtra,
  type Transaction,
  toHex,
  txPublicKeys,
} from "@anulo/protocol";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { WalletRefusal } from "../refusal.ts";
import { oneTimeSecret, PUBLIC_MASK } from "../scan/scan-transaction.ts";
import { isChange } from "../transfer/change.ts";
import { absurdFee, type SeenChain } from "../transfer/fee-limits.ts";
import {
  type ConstructionData,
  type DestinationValue,
  feeOfConstruction,
  type PendingTransaction,
} from "../transfer/metadata.ts";
import {
  type Destination,
  type Receiver,
  RING_SIZE,
  type Ring,
  type RingedTransaction,
  type SignedTransaction,
} from "../transfer/stages.ts";
import { UNKNOWN_TX_KEY } from "../transfer/unknown-tx-key.ts";
import { mapPatiently } from "../turns.ts";
import { type Finder, importOutput } from "./exported-outputs.ts";
import type { SignedSet } from "./tx-sets.ts";

type Source = ConstructionData["sources"][number];

/** The error for a set that is not signed. */
export function signingRefusal(message: string): WalletRefusal {
  return new WalletRefusal("SIGN_UNSIGNED", `Failed to sign unsigned tx: ${message}`);
}

/** RingCT outputs with view tags. */
const FLAGS = 3;
const NEWEST = { rangeProofType: [0, 3], bulletproofVersion: [0, 4] };

/** Source: cryptonote_config.h BULLETPROOF_PLUS_MAX_OUTPUTS. */
const MAX_OUTPUTS = 16;
/** More inputs than fit into the heaviest transaction that a node accepts: 149,400 bytes, some 650 per input. */
const MAX_INPUTS = 256;
/** Maximum index of an output within its transaction. */
const MAX_OUTPUT_INDEX = 65_535n;

/** Throws `WalletRefusal` for a transaction of a kind that is no longer created, or that pays an absurd fee. */
export function checkForm(data: ConstructionData, chain: SeenChain): void {
  const { sources, splitDestinations, flags, rangeProofType, bulletproofVersion } = data;
  if (sources.length === 0) throw signingRefusal("Empty sources");
  if (sources.length > MAX_INPUTS) throw signingRefusal(`it has more than ${MAX_INPUTS} inputs`);
  const isNewest =
    flags === FLAGS &&
    NEWEST.rangeProofType.includes(rangeProofType) &&
    NEWEST.bulletproofVersion.includes(bulletproofVersion);
  if (!isNewest) throw signingRefusal("it asks for a kind of transaction the network no longer takes");
  if (splitDestinations.length > MAX_OUTPUTS) throw signingRefusal(`it has more than ${MAX_OUTPUTS} outputs`);
  if (sources.some(({ outputs }) => outputs.length !== RING_SIZE))
    throw signingRefusal(`every ring must have ${RING_SIZE} outputs`);
  const absurd = absurdFee(data, chain);
  if (absurd !== undefined) throw signingRefusal(absurd);
}

/** The output that a source spends, as one of ours; its mask must open its commitment. */
function inputOf(source: Source, finder: Finder): OwnedOutput {
  const member = source.outputs[Number(source.realOutput)];
  if (member === undefined) throw signingRefusal("the real output is not in its ring");
  const { txPublicKey, additionalTxPublicKeys, amount, mask } = source;
  if (source.outputIndex > MAX_OUTPUT_INDEX) throw signingRefusal("an output index is too large");
  const outputIndex = Number(source.outputIndex);
  const exported = { oneTimeKey: member.key, outputIndex, txPublicKey, additionalTxPublicKeys };
  const owned = importOutput({ ...exported, globalIndex: member.globalIndex, flags: 0, amount }, finder);
  if (!equalBytes(commit(mask, amount), member.commitment))
    throw signingRefusal("an amount does not open its commitment");
  const rct = source.rct === 1;
  if (!rct && !equalBytes(mask, PUBLIC_MASK))
    throw signingRefusal("an output from before RingCT has no mask");
  return { ...owned, rct, mask };
}

/** The ring of a source; throws `WalletRefusal` if it is invalid. */
export function ringOf({ outputs, realOutput }: Source): Ring {
  const members = outputs.map(({ globalIndex, key, commitment }) => {
    return { globalIndex: Number(globalIndex), key, commitment };
  });
  if (members.some(({ globalIndex }, i) => i > 0 && globalIndex <= members[i - 1]!.globalIndex))
    throw signingRefusal("the members of a ring are not in order");
  if (!members.every(({ key, commitment }) => isPoint(key) && isPoint(commitment)))
    throw signingRefusal("a member of a ring is no point");
  return { members, realIndex: Number(realOutput) };
}

/** The payments: all outputs but the change, or the zero-amount output in its place. */
function paidEntries({ splitDestinations, change }: ConstructionData): DestinationValue[] {
  const at = splitDestinations.findIndex(
    (entry) => isChange(entry, change) && entry.amount === change.amount,
  );
  if (at === -1 && change.amount > 0n) throw signingRefusal("the change is not among the outputs");
  const paid = splitDestinations.filter((_, i) => i !== at);
  // The zero-amount output beside a single payment is a dummy: signing creates a new one.
  return paid.length > 1 || change.amount > 0n ? paid : paid.filter(({ amount }) => amount > 0n);
}

const utf8 = new TextDecoder();

function destinationOf({
  original,
  spendPublic,
  viewPublic,
  isSubaddress,
  amount,
}: DestinationValue): Destination {
  if (!isPoint(spendPublic) || !isPoint(viewPublic)) throw signingRefusal("a destination's key is no point");
  const address = utf8.decode(original);
  return { address, spendPublic, viewPublic, isSubaddress: isSubaddress === 1, amount, paymentId: undefined };
}

/** A payment id of zeros is the dummy that every transaction of two outputs gets. */
function withPaymentId(destinations: Destination[], extra: Uint8Array): Destination[] {
  const paymentId = encryptedPaymentId(parseExtra(extra));
  if (paymentId?.some((byte) => byte !== 0) !== true) return destinations;
  return destinations.map((destination, i) => (i === 0 ? { ...destination, paymentId } : destination));
}

/** Checks that the change returns to this wallet. */
function changeReceiver({ change }: ConstructionData, finder: Finder): Receiver {
  const { spendPublic, viewPublic } = change;
  const index = change.amount === 0n ? undefined : finder.indexOfSpendKey(spendPublic);
  if (change.amount > 0n && index === undefined)
    throw signingRefusal("the change goes to an address that is not of this wallet");
  return { spendPublic, viewPublic, isSubaddress: change.isSubaddress === 1 };
}

/** Number of inputs checked before yielding to the event loop: half a millisecond each. */
const INPUTS_AT_ONCE = 16;

/** The transaction that the construction data describe, after all checks. Throws `WalletRefusal`. */
export async function readConstruction(
  data: ConstructionData,
  finder: Finder,
  chain: SeenChain,
): Promise<{ ringed: RingedTransaction; change: Receiver }> {
  checkForm(data, chain);
  if (data.unlockTime !== 0n) throw signingRefusal("transaction cannot have non-zero unlock time");
  const bySource = await mapPatiently(
    data.sources,
    (source) => ({ input: inputOf(source, finder), ring: ringOf(source) }),
    { stepsAtOnce: INPUTS_AT_ONCE },
  );
  const inputs = bySource.map(({ input }) => input);
  if (new Set(inputs.map(({ oneTimeKey }) => toHex(oneTimeKey))).size !== inputs.length)
    throw signingRefusal("an output is spent twice");
  const fee = feeOfConstruction(data);
  if (fee < 0n) throw signingRefusal("it pays more than it spends");
  const destinations = withPaymentId(paidEntries(data).map(destinationOf), data.extra);
  const ringed = {
    inputs,
    destinations,
    change: data.change.amount,
    fee,
    rings: bySource.map(({ ring }) => ring),
    unlockTime: 0n,
  };
  return { ringed, change: changeReceiver(data, finder) };
}

/** Key image of an output that this transaction key sends to us; undefined for any other. */
function ownKeyImage(
  place: { key: Uint8Array; viewTag: number; outputIndex: number },
  txKey: Uint8Array,
  finder: Finder,
) {
  const { key, viewTag, outputIndex } = place;
  const derivation = generateKeyDerivation(txKey, finder.keys.viewSecret);
  try {
    if (deriveViewTag(derivation, outputIndex) !== viewTag) return undefined;
    const subaddress = finder.indexOfSpendKey(deriveSubaddressPublicKey(key, derivation, outputIndex));
    if (subaddress === undefined) return undefined;
    const secret = oneTimeSecret(finder.keys, { derivation, outputIndex, subaddress });
    const keyImage = keyImageOf(key, secret);
    wipe(secret);
    return keyImage;
  } finally {
    wipe(derivation);
  }
}

/** Key images of a transaction's outputs that are ours, so that the view-only wallet can spend them at once. */
export function ownOutputsOf({ prefix }: Transaction, finder: Finder): SignedSet["ownOutputs"] {
  const fields = parseExtra(prefix.extra);
  const additional = additionalPublicKeys(fields);
  return prefix.outputs.flatMap(({ target }, outputIndex) => {
    if (target.type !== "taggedKey") return [];
    for (const txKey of [...txPublicKeys(fields), additional[outputIndex]]) {
      const keyImage = txKey && ownKeyImage({ ...target, outputIndex }, txKey, finder);
      if (keyImage !== undefined) return [{ pairSize: 2, oneTimeKey: target.key, keyImage }];
    }
    return [];
  });
}

/** The signed transaction in the form that the view-only wallet receives: without the transaction's secret keys. */
export function pendingFor(data: ConstructionData, signed: SignedTransaction): PendingTransaction {
  const { transaction } = signed;
  const images = transaction.prefix.inputs.map((input) =>
    input.type === "key" ? `<${toHex(input.keyImage)}> ` : "",
  );
  return {
    version: 1,
    transaction,
    dust: 0n,
    fee: signed.fee,
    dustAddedToFee: 0,
    change: data.change,
    selectedTransfers: data.selectedTransfers,
    keyImages: new TextEncoder().encode(images.join("")),
    txKey: UNKNOWN_TX_KEY,
    additionalTxKeys: [],
    destinations: data.destinations,
    constructionData: data,
    multisigSignatures: [],
    multisigEntropy: new Uint8Array(32),
  };
}
