/** Exchange with the other wallet of a cold-signing pair: outputs in one direction, key images in the other. */
import { forEachSliced, runSliced, TimeSlice } from "@anulo/limits";
import { BadBytes, concatBytes, equalBytes, keyInputs, type Transaction, toHex } from "@anulo/protocol";
import type { SpentStatus } from "../changes.ts";
import {
  type ExportedOutputs,
  type ExportedPart,
  importOutput,
  isImported,
  piecesOfExport,
  readExported,
} from "../cold-signing/exported-outputs.ts";
import { outputToSign, type SignedKeyImage, SignedKeyImages } from "../cold-signing/key-images.ts";
import { hasMagic, magicOf, sealInPieces, unseal, unsealFailure } from "../cold-signing/sealed.ts";
import { checked } from "../daemon.ts";
import { mapped } from "../lists.ts";
import type { OutputBook } from "../outputs/output-book.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { createMoveCheck, outputsFrom, retryWhenMoved } from "../outputs/walk.ts";
import { fetchTransactions, TRANSACTIONS_PER_CALL } from "../proofs/transactions.ts";
import { WalletRefusal } from "../refusal.ts";
import { publicAmountOut } from "../scan/scan-transaction.ts";
import type { ScannedTransaction } from "../state.ts";
import { mapPatiently } from "../turns.ts";
import { isUnspent } from "../unlock.ts";
import type { Wallet } from "../wallet.ts";

const OUTPUTS_MAGIC = magicOf("Monero output export", 4);
/** Number of key images in one request to the node. */
const KEY_IMAGES_PER_CALL = 1000;
/** Number of key images in one change: to apply one holds the event loop. */
export const KEY_IMAGES_PER_CHANGE = 256;
/** The same of outputs. */
const OUTPUTS_PER_CHANGE = 256;

function refusal(message: string): WalletRefusal {
  return new WalletRefusal("UNKNOWN_ERROR", message);
}

/** Index of the first output whose key image is requested (see `WalletState.requestedFrom`). */
function firstRequested({ state, signer }: Wallet): number {
  const { requestedFrom, outputs } = state;
  return Math.min(outputs.count, requestedFrom ?? (signer.asksForKeyImages ? 0 : outputs.count));
}

/** The part of the outputs from `start` on, or otherwise of those not yet exchanged; at most `count`. */
export function partToExport(
  wallet: Wallet,
  { start, count = Infinity }: { start?: number; count?: number } = {},
): ExportedPart {
  const requestedFrom = firstRequested(wallet);
  return { offset: start ?? requestedFrom, count, requestedFrom };
}

export type ExportOrder = {
  readonly all: boolean;
  readonly start: number;
  readonly count: number;
};

/**
 * Exports, encrypted and in pieces, the outputs not yet exchanged, or of all outputs those from `start` on; at most
 * `count`. Throws `WalletRefusal`, and `OutputsMoved`. Source: wallet2.cpp `export_outputs`.
 */
export function exportSealedOutputs(
  wallet: Wallet,
  { all, start, count }: ExportOrder,
): AsyncGenerator<Uint8Array, void> {
  if (count === 0) throw refusal("Nothing requested");
  if (!all && start > 0) throw refusal("Incremental mode is incompatible with non-zero start");
  return sealInPieces(OUTPUTS_MAGIC, toExport(wallet, all ? { start, count } : { count }), wallet);
}

function* toExport(wallet: Wallet, part: { start?: number; count: number }): Generator<Uint8Array, void> {
  const { spendPublic, viewPublic } = wallet.keys;
  yield concatBytes(spendPublic, viewPublic);
  yield* piecesOfExport(wallet.state.outputs, partToExport(wallet, part));
}

/**
 * Imports exported outputs; returns how many outputs the wallet then has. A wallet that has scanned knows its outputs
 * better than a copy, so it refuses them. Throws `WalletRefusal`. Source: wallet2.cpp `import_outputs`.
 */
export async function importOutputs(wallet: Wallet, exported: ExportedOutputs): Promise<number> {
  const { offset, total, outputs } = exported;
  const { state } = wallet;
  if (wallet.hasScanned) throw refusal("Failed to import outputs: Hot wallets cannot import outputs");
  const keys = wallet.signer.spendKeys("importOutputs");
  if (offset > state.outputs.count)
    throw refusal("Imported outputs omit more outputs that we know of. Try using export_outputs all.");
  if (offset + outputs.length > total) throw refusal("Offset is larger than total outputs");
  await wallet.whenReady();
  const finder = {
    keys,
    indexOfSpendKey: (spendPublic: Uint8Array) => wallet.indexOfSpendKey(spendPublic),
  };
  const imported = await mapPatiently(outputs, (output) => importOutput(output, finder));
  for (const [i, output] of imported.entries()) {
    const own = state.outputs.at(offset + i);
    if (own === undefined || isImported(own) || equalBytes(own.oneTimeKey, output.oneTimeKey)) continue;
    throw refusal("Failed to import outputs: they are not those this wallet has found itself");
  }
  let from = 0;
  do {
    // What a scan has found meanwhile comes behind those that are imported.
    if (wallet.hasScanned) throw refusal("Failed to import outputs: Hot wallets cannot import outputs");
    const some = imported.slice(from, from + OUTPUTS_PER_CHANGE);
    await wallet.importOutputs({ kind: "importedOutputs", offset: offset + from, total, outputs: some });
    from += OUTPUTS_PER_CHANGE;
  } while (from < imported.length);
  return state.outputs.count;
}

/** Imports outputs in the form that `export_outputs` returns. Throws `WalletRefusal`. */
export async function importSealedOutputs(wallet: Wallet, sealed: Uint8Array): Promise<number> {
  if (!hasMagic(OUTPUTS_MAGIC, sealed)) throw refusal("Bad magic from outputs");
  const plain = await unseal(OUTPUTS_MAGIC, sealed, wallet);
  if (plain === undefined)
    throw refusal(`Failed to decrypt outputs: ${unsealFailure(OUTPUTS_MAGIC, sealed)}`);
  if (plain.length < 64) throw refusal("Bad data size for outputs");
  const { spendPublic, viewPublic } = wallet.keys;
  if (!equalBytes(plain.subarray(0, 64), concatBytes(spendPublic, viewPublic)))
    throw refusal("Outputs from are for a different account");
  try {
    return await importOutputs(wallet, await runSliced(readExported(plain.subarray(64))));
  } catch (error) {
    if (error instanceof BadBytes) throw refusal("Failed to import outputs: they can't be read");
    throw error;
  }
}

/** Signed key images of the requested outputs, or of all, from `offset` on. Throws `WalletRefusal`. */
export async function exportKeyImages(
  wallet: Wallet,
  all: boolean,
): Promise<{ offset: number; images: SignedKeyImages }> {
  wallet.signer.check("exportKeyImages");
  return await retryWhenMoved(() => signKeyImages(wallet, all ? 0 : firstRequested(wallet)));
}

async function signKeyImages(wallet: Wallet, offset: number) {
  const { signer, runtime, state } = wallet;
  const { outputs } = state;
  const images = new SignedKeyImages(outputs.count - offset);
  if (images.count === 0) return { offset, images };
  const keys = signer.spendKeys("signKeyImage");
  const toSign = mapped(outputsFrom(outputs, offset, outputs.count), (some) => some.map(outputToSign));
  let index = 0;
  for await (const signed of runtime.threads.mapLists("signKeyImages", toSign, { keys }))
    for (const image of signed) images.put(index++, image);
  return { offset, images };
}

/** Source: core_rpc_server_commands_defs.h COMMAND_RPC_IS_KEY_IMAGE_SPENT. */
const statusOf: readonly SpentStatus[] = ["unspent", "chain", "pool"];

/** Where each key image (32 bytes) is spent, as the node reports it. Throws `WalletRefusal`. */
async function spentStatus(wallet: Wallet, images: readonly Uint8Array[]): Promise<SpentStatus[]> {
  const status: SpentStatus[] = [];
  for (let at = 0; at < images.length; at += KEY_IMAGES_PER_CALL) {
    const key_images = images.slice(at, at + KEY_IMAGES_PER_CALL).map(toHex);
    const { spent_status } = await checked(wallet.daemon.client.isKeyImageSpent({ key_images }));
    if (spent_status.length !== key_images.length)
      throw refusal("daemon returned wrong response for is_key_image_spent, wrong amounts count");
    status.push(...spent_status.map((each) => statusOf[each] ?? "chain"));
  }
  return status;
}

/** Ids of the transactions that have paid outputs which a scan has found, in groups for the node, in slices. */
async function* paymentIds(wallet: Wallet): AsyncGenerator<Uint8Array[]> {
  const { outputs } = wallet.state;
  const slice = new TimeSlice();
  let ids: Uint8Array[] = [];
  for (let place = 0; place < outputs.count; place++) {
    const output = outputs.at(place)!;
    if (slice.isOver) await slice.yield();
    // Outputs of one transaction follow each other.
    if (output.coinbase || isImported(output) || isLast(ids, output.txHash)) continue;
    if (ids.length === TRANSACTIONS_PER_CALL) {
      yield ids;
      ids = [];
    }
    ids.push(output.txHash);
  }
  if (ids.length > 0) yield ids;
}

const isLast = (ids: readonly Uint8Array[], id: Uint8Array): boolean => {
  const last = ids.at(-1);
  return last !== undefined && equalBytes(last, id);
};

/** The outputs that each of some transactions (hex ids) has paid, in slices. */
async function outputsOf(wallet: Wallet, ids: ReadonlySet<string>): Promise<Map<string, OwnedOutput[]>> {
  const byTransaction = new Map<string, OwnedOutput[]>();
  await forEachSliced(wallet.state.outputs, (output) => {
    const id = toHex(output.txHash);
    if (!ids.has(id) || output.coinbase || isImported(output)) return;
    byTransaction.set(id, [...(byTransaction.get(id) ?? []), output]);
  });
  return byTransaction;
}

/** Our own transactions that spend any of these key images (hex), as a scan would have seen them. */
async function spendersOf(wallet: Wallet, spent: ReadonlySet<string>): Promise<ScannedTransaction[]> {
  const spenders = new Map<string, Transaction>();
  for await (const ids of paymentIds(wallet))
    for (const { txHash, transaction } of await fetchTransactions(wallet.daemon, ids))
      if (keyInputs(transaction.prefix).some(({ keyImage }) => spent.has(toHex(keyImage))))
        spenders.set(toHex(txHash), transaction);
  const received = await outputsOf(wallet, new Set(spenders.keys()));
  return [...spenders].flatMap(([id, transaction]) => {
    const outputs = received.get(id);
    return outputs === undefined ? [] : [scannedOf(wallet, transaction, outputs)];
  });
}

/** A transaction as a scan finds it; `received`: at least one output. */
function scannedOf(
  wallet: Wallet,
  { prefix, ringct }: Transaction,
  received: readonly OwnedOutput[],
): ScannedTransaction {
  const { txHash, height, timestamp, unlockTime, txSize } = received[0]!;
  const { incoming } = wallet.state;
  const [receipt] = incoming.placesOf(txHash);
  return {
    txHash,
    height,
    timestamp,
    unlockTime,
    txSize,
    coinbase: false,
    fee: ringct === undefined ? undefined : ringct.type === 0 ? 0n : ringct.fee,
    publicAmountOut: publicAmountOut(prefix),
    paymentId: receipt === undefined ? new Uint8Array(32) : incoming.at(receipt).paymentId,
    received,
    inputs: keyInputs(prefix),
  };
}

export type KeyImageSums = { readonly height: number; readonly spent: bigint; readonly unspent: bigint };

/** Spent and unspent atomic units of the outputs up to the last of `status`, which begins with that at `offset`. */
async function sums(wallet: Wallet, { offset, status }: { offset: number; status: readonly SpentStatus[] }) {
  let [spent, unspent] = [0n, 0n];
  const { outputs } = wallet.state;
  const slice = new TimeSlice();
  for (let place = 0; place < Math.min(outputs.count, offset + status.length); place++) {
    const { frozen, spentHeight, amount } = outputs.hotAt(place);
    if (slice.isOver) await slice.yield();
    if (frozen) continue;
    const isSpent = place < offset ? spentHeight !== undefined : status[place - offset] !== "unspent";
    if (isSpent) spent += amount;
    else unspent += amount;
  }
  return { spent, unspent };
}

/** Verifies and imports signed key images of the outputs from `offset` on. Throws `WalletRefusal`. */
export async function importKeyImages(
  wallet: Wallet,
  images: readonly SignedKeyImage[],
  offset: number,
): Promise<KeyImageSums> {
  return await retryWhenMoved(() => checkAndLearn(wallet, images, offset));
}

async function checkAndLearn(
  wallet: Wallet,
  images: readonly SignedKeyImage[],
  offset: number,
): Promise<KeyImageSums> {
  const { outputs } = wallet.state;
  if (offset > outputs.count) throw refusal("Offset larger than known outputs");
  if (images.length > outputs.count - offset)
    throw refusal("The blockchain is out of date compared to the signed key images");
  if (images.length === 0 && offset === 0) return { height: 0, spent: 0n, unspent: 0n };
  const checkMoved = createMoveCheck(outputs);
  const checks = wallet.runtime.threads.mapLists("checkKeyImages", toCheck(outputs, images, offset), {});
  while ((await checks.next()).done !== true);
  const keyImages = images.map(({ keyImage }) => keyImage);
  const status = await learnKeyImagesOf(wallet, { keyImages, offset, checkMoved });
  const { height } = outputs.hotAt(offset + images.length - 1);
  return { height, ...(await sums(wallet, { offset, status })) };
}

/** Signed key images beside the outputs they are of, some at a time. Throws `OutputsMoved`. */
function* toCheck(outputs: OutputBook, images: readonly SignedKeyImage[], offset: number) {
  let i = 0;
  for (const some of outputsFrom(outputs, offset, offset + images.length))
    yield some.map((output) => {
      const place = `${offset + i}/${images.length}`;
      return { image: images[i++]!, output, place };
    });
}

/** Key images of the outputs from `offset` on. */
export type LearntImages = {
  /** 32 bytes each. */
  readonly keyImages: readonly Uint8Array[];
  readonly offset: number;
  /** Throws `OutputsMoved` once a place has another output than when the key images were computed. */
  readonly checkMoved: () => void;
};

/**
 * Imports key images without verifying them, some in one change, and with the last of them our transactions that spend
 * them; returns where they are spent. Throws `OutputsMoved`.
 */
export async function learnKeyImagesOf(
  wallet: Wallet,
  { keyImages, offset, checkMoved }: LearntImages,
): Promise<SpentStatus[]> {
  const status = await spentStatus(wallet, keyImages);
  const spentImages = new Set<string>();
  await forEachSliced(keyImages.entries(), ([i, keyImage]) => {
    if (status[i] === "chain") spentImages.add(toHex(keyImage));
  });
  const spenders = spentImages.size === 0 ? [] : await spendersOf(wallet, spentImages);
  let from = 0;
  do {
    const end = from + KEY_IMAGES_PER_CHANGE;
    const transactions = end < keyImages.length ? [] : spenders;
    const some = { keyImages: keyImages.slice(from, end), spent: status.slice(from, end), transactions };
    checkMoved();
    await wallet.learnKeyImages({ kind: "keyImages", offset: offset + from, ...some });
    from = end;
  } while (from < keyImages.length);
  return status;
}

/**
 * Queries the node again where the outputs are spent, some at a time, and changes only what differs from the wallet's
 * state, unless a scan has changed it since. Each response is kept before the next request: what the node says of an
 * output is true whatever it says of others.
 */
export async function rescanSpent(wallet: Wallet): Promise<void> {
  const { outputs } = wallet.state;
  for (let from = 0; from < outputs.count; from += KEY_IMAGES_PER_CALL)
    await rescanSome(wallet, outputs.slice(from, from + KEY_IMAGES_PER_CALL));
}

async function rescanSome(wallet: Wallet, some: readonly OwnedOutput[]): Promise<void> {
  const { outputs } = wallet.state;
  const asked = some.filter(({ keyImage }) => keyImage !== undefined);
  if (asked.length === 0) return;
  const isSame = (output: OwnedOutput, status: SpentStatus) => isUnspent(output) === (status === "unspent");
  const all = await spentStatus(
    wallet,
    asked.map(({ keyImage }) => keyImage!),
  );
  const different = asked
    .map((output, i) => ({ output, status: all[i]! }))
    .filter(({ output, status }) => !isSame(output, status));
  const isAsBefore = ({ output }: { readonly output: OwnedOutput }) => {
    const now = outputs.withImage(output.keyImage!);
    return now?.spentHeight === output.spentHeight && now?.pendingSpend === output.pendingSpend;
  };
  for (let from = 0; from < different.length; from += KEY_IMAGES_PER_CHANGE) {
    const changed = different.slice(from, from + KEY_IMAGES_PER_CHANGE).filter(isAsBefore);
    const status = changed.map(({ output, status }) => [toHex(output.keyImage!), status] as const);
    if (status.length > 0) await wallet.commit({ kind: "spent", status });
  }
}
