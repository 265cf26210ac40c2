/**
 * Data that signers exchange before a payment: partial key images, and nonces for one signature of each group.
 * Source: wallet2.cpp `export_multisig`, `import_multisig`.
 */
import { keyImageOf, NONCES_PER_SIGNATURE, pointAdd, publicKeyOf, randomScalar, wipe } from "@anulo/crypto";
import { runSliced } from "@anulo/limits";
import {
  BadBytes,
  bytes32,
  type Codec,
  compareBytes,
  concatBytes,
  decodeInSteps,
  encode,
  equalBytes,
  list,
  readList,
  struct,
  toHex,
  varint,
} from "@anulo/protocol";
import { magicOf, seal, unseal, unsealFailure } from "../cold-signing/sealed.ts";
import { mapped } from "../lists.ts";
import { ownOneTimeSecret, signerKeyOf } from "../multisig/account-keys.ts";
import { choose, type MultisigAccount } from "../multisig/key-exchange.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { createMoveCheck, retryWhenMoved } from "../outputs/walk.ts";
import { WalletRefusal } from "../refusal.ts";
import type { Runtime } from "../runtime.ts";
import type { SignerInfo } from "../state.ts";
import { mapPatiently } from "../turns.ts";
import type { Wallet } from "../wallet.ts";
import { learnKeyImagesOf } from "./cold-exchange.ts";

const MAGIC = magicOf("Monero multisig export", 1);
const HEADER_BYTES = 96;
/** Outputs of one change. */
const OUTPUTS_PER_CHANGE = 128;

const noncePoints = struct().field("L", bytes32).field("R", bytes32);
const signerInfo: Codec<SignerInfo> = struct()
  .field("signer", bytes32)
  .field("nonces", list(noncePoints))
  .field("partialKeyImages", list(bytes32));
/** The data that one signer exports about all outputs. */
export const signerInfos: Codec<SignerInfo[]> = list(signerInfo);

function refusal(message: string): WalletRefusal {
  return new WalletRefusal("UNKNOWN_ERROR", `Error calling import_multisig: ${message}`);
}

/** Number of nonces for one attempt by each group of signers that includes this one. */
function nonceCount({ signers, threshold }: MultisigAccount): number {
  return choose(signers.length - 1, signers.length - threshold) * NONCES_PER_SIGNATURE;
}

function infoOf(output: OwnedOutput, account: MultisigAccount, nonces: readonly Uint8Array[]): SignerInfo {
  const { oneTimeKey } = output;
  return {
    signer: signerKeyOf(account),
    nonces: nonces.map((nonce) => ({ L: publicKeyOf(nonce), R: keyImageOf(oneTimeKey, nonce) })),
    partialKeyImages: account.shares.map((share) => keyImageOf(oneTimeKey, share)),
  };
}

/** Returns the encrypted export for the other signers. New nonces replace those exported before. */
export async function exportInfo(wallet: Wallet, account: MultisigAccount): Promise<Uint8Array> {
  const { spendPublic, viewPublic } = wallet.keys;
  const entries = await mapPatiently(wallet.state.outputs, (output) => {
    const nonces = Array.from({ length: nonceCount(account) }, () => randomScalar(wallet.runtime.random));
    return { key: toHex(output.oneTimeKey), nonces, info: infoOf(output, account, nonces) };
  });
  // The nonces are stored before any signer can use them. Some at a time: an output keeps its former ones until its turn.
  for (const some of partsOf(entries))
    await wallet.commit({ kind: "multisigNonces", nonces: some.map(({ key, nonces }) => [key, nonces]) });
  const head = concatBytes(spendPublic, viewPublic, signerKeyOf(account));
  const infos = mapped(entries, ({ info }) => encode(signerInfo, info));
  return seal(MAGIC, piecesOf(head, encode(varint, entries.length), infos), wallet);
}

function* piecesOf(head: Uint8Array, count: Uint8Array, infos: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield head;
  yield count;
  yield* infos;
}

/** Some items at a time, as many as one change may have: to apply one holds the event loop. */
function* partsOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += OUTPUTS_PER_CHANGE)
    yield items.slice(from, from + OUTPUTS_PER_CHANGE);
}

/**
 * Checks the number of parts that one signer exports per output: at most one for each of the signer's shares, and their
 * nonces.
 */
function checkCounts(infos: readonly SignerInfo[], account: MultisigAccount): void {
  const shares = choose(account.signers.length - 1, account.signers.length - account.threshold);
  const isBounded = infos.every(
    ({ nonces, partialKeyImages }) =>
      nonces.length <= nonceCount(account) && partialKeyImages.length <= shares,
  );
  if (!isBounded) throw refusal("Multisig info tells more than a signer has");
}

async function checkPoints(infos: readonly SignerInfo[], { threads }: Runtime): Promise<void> {
  const points = infos.flatMap(({ nonces, partialKeyImages }) => [
    ...nonces.flatMap(({ L, R }) => [L, R]),
    ...partialKeyImages,
  ]);
  if ((await threads.map("arePoints", points, {})).includes(false))
    throw refusal("Multisig value is not in the main subgroup");
}

/** One signer's data; undefined for this signer's own. Throws `WalletRefusal`. */
async function openInfo(
  wallet: Wallet,
  account: MultisigAccount,
  sealed: Uint8Array,
): Promise<SignerInfo[] | undefined> {
  if (!equalBytes(sealed.subarray(0, MAGIC.length), MAGIC)) throw refusal("Bad multisig info file magic in ");
  const plain = await unseal(MAGIC, sealed, wallet);
  if (plain === undefined) throw refusal(unsealFailure(MAGIC, sealed));
  if (plain.length < HEADER_BYTES) throw refusal("Bad data size");
  const { spendPublic, viewPublic } = wallet.keys;
  if (!equalBytes(plain.subarray(0, 64), concatBytes(spendPublic, viewPublic)))
    throw refusal("Multisig info is for a different account");
  const signer = plain.subarray(64, HEADER_BYTES);
  if (equalBytes(signer, signerKeyOf(account))) return undefined;
  if (!account.signers.some((member) => equalBytes(member, signer)))
    throw refusal("Signer is not a member of this multisig wallet");
  const infos = await readInfos(plain.subarray(HEADER_BYTES));
  if (!infos.every((info) => equalBytes(info.signer, signer)))
    throw refusal("Mismatched signers in imported multisig info");
  return infos;
}

async function readInfos(body: Uint8Array): Promise<SignerInfo[]> {
  try {
    return await runSliced(decodeInSteps((reader) => readList(reader, signerInfo), body));
  } catch (error) {
    if (error instanceof BadBytes) throw refusal("Failed to load output data");
    throw error;
  }
}

/** The key image of an output: this signer's part, plus the others' parts that it does not include. */
function compositeKeyImage(
  output: OwnedOutput,
  account: MultisigAccount,
  others: readonly SignerInfo[],
): Uint8Array {
  const { oneTimeKey } = output;
  const secret = ownOneTimeSecret(account, output);
  try {
    const used = new Set(account.shares.map((share) => toHex(keyImageOf(oneTimeKey, share))));
    const parts = others
      .flatMap(({ partialKeyImages }) => partialKeyImages)
      .filter((part) => {
        const isNew = !used.has(toHex(part));
        used.add(toHex(part));
        return isNew;
      });
    return parts.reduce(pointAdd, keyImageOf(oneTimeKey, secret));
  } finally {
    wipe(secret);
  }
}

/**
 * Imports key images without sending them to a node that isn't trusted, since it could link every spend of this wallet
 * by them: the blocks since the first output that had none have to be scanned again. Returns its height, undefined if
 * every key image was known. Source: wallet2.cpp `import_multisig`.
 */
async function learnUnasked(
  wallet: Wallet,
  outputs: readonly OwnedOutput[],
  keyImages: readonly Uint8Array[],
): Promise<number | undefined> {
  const fresh = outputs.flatMap(({ oneTimeKey, keyImage: ownImage, height }, n) => {
    const keyImage = keyImages[n]!;
    return ownImage !== undefined && equalBytes(ownImage, keyImage) ? [] : [{ oneTimeKey, keyImage, height }];
  });
  if (fresh.length === 0) return undefined;
  const images = fresh.map(({ oneTimeKey, keyImage }) => ({ oneTimeKey, keyImage }));
  for (const some of partsOf(images)) await wallet.learnKeyImages({ kind: "coldKeyImages", images: some });
  return fresh.reduce((lowest, { height }) => Math.min(lowest, height), wallet.height);
}

export type ImportedInfo = {
  readonly sealed: readonly Uint8Array[];
  /** Whether spends were searched at once; if not, the next refresh finds them. */
  readonly isLookedUp: boolean;
};

/**
 * Imports the other signers' exports; returns for how many outputs all of them exported data. Throws `WalletRefusal`.
 */
export async function importInfo(
  wallet: Wallet,
  account: MultisigAccount,
  { sealed, isLookedUp }: ImportedInfo,
): Promise<number> {
  const bySigner = new Map<string, readonly SignerInfo[]>();
  for (const each of sealed) {
    const infos = await openInfo(wallet, account, each);
    const [first] = infos ?? [];
    if (infos !== undefined && first !== undefined && !bySigner.has(toHex(first.signer)))
      bySigner.set(toHex(first.signer), infos);
  }
  const sources = [...bySigner.values()].sort(([a], [b]) => compareBytes(a!.signer, b!.signer));
  if (sources.length + 1 < account.threshold) throw refusal("Wrong number of multisig sources");
  return await retryWhenMoved(() => importSources(wallet, account, { sources, isLookedUp }));
}

type Sources = Pick<ImportedInfo, "isLookedUp"> & { readonly sources: readonly (readonly SignerInfo[])[] };

/** The same, of what each signer has exported. Throws `WalletRefusal`, and `OutputsMoved`. */
async function importSources(
  wallet: Wallet,
  account: MultisigAccount,
  { sources, isLookedUp }: Sources,
): Promise<number> {
  const { outputs } = wallet.state;
  const count = Math.min(outputs.count, ...sources.map(({ length }) => length));
  if (count === 0) return 0;
  for (const infos of sources) {
    const usable = infos.slice(0, count);
    checkCounts(usable, account);
    await checkPoints(usable, wallet.runtime);
  }
  const checkMoved = createMoveCheck(outputs);
  const shared = outputs.slice(0, count);
  const infos = shared.map((_, n) => sources.map((each) => each[n]!));
  const entries = [...shared.entries()];
  const keyImages = await mapPatiently(entries, ([n, output]) =>
    compositeKeyImage(output, account, infos[n]!),
  );
  for (const some of partsOf(entries))
    await wallet.commit({
      kind: "multisigInfos",
      infos: some.map(([n, { oneTimeKey }]) => [toHex(oneTimeKey), infos[n]!]),
    });
  if (isLookedUp && wallet.daemon.isTrusted) {
    await learnKeyImagesOf(wallet, { keyImages, offset: 0, checkMoved });
    return count;
  }
  const height = await learnUnasked(wallet, shared, keyImages);
  if (height === undefined) return count;
  await (isLookedUp ? wallet.scanAgain(height) : wallet.undoBlocks(height));
  return count;
}
