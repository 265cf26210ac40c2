/** Exchange with the other wallet of a cold-signing pair: outputs in one direction, key images in the other. */
import { BadBytes, concatBytes, decode, encode, equalBytes, keyInputs, toHex } from "@anulo/protocol";
import type { SpentStatus } from "../changes.ts";
import {
  type ExportedOutputs,
  exportedOutputs,
  exportOutputs,
  importOutput,
  isImported,
} from "../cold-signing/exported-outputs.ts";
import type { SignedKeyImage } from "../cold-signing/key-images.ts";
import { hasMagic, magicOf, seal, unseal } from "../cold-signing/sealed.ts";
import { checked } from "../daemon.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { fetchTransactions } from "../proofs/transactions.ts";
import { WalletRefusal } from "../refusal.ts";
import { publicAmountOut } from "../scan/scan-transaction.ts";
import type { ScannedTransaction } from "../state.ts";
import { mapPatiently } from "../turns.ts";
import { isUnspent } from "../unlock.ts";
import type { Wallet } from "../wallet.ts";

const OUTPUTS_MAGIC = magicOf("Monero output export", 4);
/** Number of key images in one request to the node. */
const KEY_IMAGES_PER_CALL = 1000;

function refusal(message: string): WalletRefusal {
  return new WalletRefusal("UNKNOWN_ERROR", message);
}

/** Index of the first output whose key image is requested (see `WalletState.requestedFrom`). */
function firstRequested({ state, isViewOnly }: Wallet): number {
  const { requestedFrom, outputs } = state;
  return Math.min(outputs.count, requestedFrom ?? (isViewOnly ? 0 : outputs.count));
}

/** Outputs from `start` on, or otherwise those not yet exchanged; at most `count`. */
export function outputsToExport(
  wallet: Wallet,
  { start, count = Infinity }: { start?: number; count?: number } = {},
): ExportedOutputs {
  const requestedFrom = firstRequested(wallet);
  return exportOutputs(wallet.state.outputs, { offset: start ?? requestedFrom, count, requestedFrom });
}

export type ExportOrder = {
  readonly all: boolean;
  readonly start: number;
  readonly count: number;
};

/**
 * Exports, encrypted, the outputs not yet exchanged, or of all outputs those from `start` on; at most `count`. Throws
 * `WalletRefusal`. Source: wallet2.cpp `export_outputs`.
 */
export async function exportSealedOutputs(
  wallet: Wallet,
  { all, start, count }: ExportOrder,
): Promise<Uint8Array> {
  if (count === 0) throw refusal("Nothing requested");
  if (!all && start > 0) throw refusal("Incremental mode is incompatible with non-zero start");
  const { spendPublic, viewPublic } = wallet.keys;
  const exported = outputsToExport(wallet, all ? { start, count } : { count });
  const plain = concatBytes(spendPublic, viewPublic, encode(exportedOutputs, exported));
  return seal(OUTPUTS_MAGIC, plain, wallet);
}

/**
 * Imports exported outputs; returns how many outputs the wallet then has. A wallet that has scanned knows its outputs
 * better than a copy, so it refuses them. Throws `WalletRefusal`. Source: wallet2.cpp `import_outputs`.
 */
export async function importOutputs(wallet: Wallet, exported: ExportedOutputs): Promise<number> {
  const { offset, total, outputs } = exported;
  const { state } = wallet;
  if (wallet.hasScanned) throw refusal("Failed to import outputs: Hot wallets cannot import outputs");
  if (wallet.isViewOnly) throw refusal("Failed to import outputs: a view-only wallet can't make key images");
  if (offset > state.outputs.count)
    throw refusal("Imported outputs omit more outputs that we know of. Try using export_outputs all.");
  if (offset + outputs.length > total) throw refusal("Offset is larger than total outputs");
  await wallet.whenReady();
  const finder = {
    keys: wallet.keys,
    indexOfSpendKey: (spendPublic: Uint8Array) => wallet.indexOfSpendKey(spendPublic),
  };
  const imported = await mapPatiently(outputs, (output) => importOutput(output, finder));
  for (const [i, output] of imported.entries()) {
    const own = state.outputs.at(offset + i);
    if (own === undefined || isImported(own) || equalBytes(own.oneTimeKey, output.oneTimeKey)) continue;
    throw refusal("Failed to import outputs: they are not those this wallet has found itself");
  }
  await wallet.importOutputs({ kind: "importedOutputs", offset, total, outputs: imported });
  return state.outputs.count;
}

/** Imports outputs in the form that `export_outputs` returns. Throws `WalletRefusal`. */
export async function importSealedOutputs(wallet: Wallet, sealed: Uint8Array): Promise<number> {
  if (!hasMagic(OUTPUTS_MAGIC, sealed)) throw refusal("Bad magic from outputs");
  const plain = await unseal(OUTPUTS_MAGIC, sealed, wallet);
  if (plain === undefined) throw refusal("Failed to decrypt outputs: Failed to authenticate ciphertext");
  if (plain.length < 64) throw refusal("Bad data size for outputs");
  const { spendPublic, viewPublic } = wallet.keys;
  if (!equalBytes(plain.subarray(0, 64), concatBytes(spendPublic, viewPublic)))
    throw refusal("Outputs from are for a different account");
  try {
    return await importOutputs(wallet, decode(exportedOutputs, plain.subarray(64)));
  } catch (error) {
    if (error instanceof BadBytes) throw refusal("Failed to import outputs: they can't be read");
    throw error;
  }
}

/** Signed key images of the requested outputs, or of all. Throws `WalletRefusal`. */
export async function exportKeyImages(
  wallet: Wallet,
  all: boolean,
): Promise<{ offset: number; images: SignedKeyImage[] }> {
  if (wallet.isViewOnly)
    throw new WalletRefusal("WATCH_ONLY", "The wallet is watch-only. Cannot make key images.");
  const offset = all ? 0 : firstRequested(wallet);
  const { keys, runtime } = wallet;
  const outputs = wallet.state.outputs.slice(offset);
  return { offset, images: await runtime.threads.map("signKeyImages", outputs, { keys }) };
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

/** Our own transactions that spend any of these key images (hex), as a scan would have seen them. */
async function spendersOf(wallet: Wallet, spent: ReadonlySet<string>): Promise<ScannedTransaction[]> {
  const byTransaction = new Map<string, OwnedOutput[]>();
  for (const output of wallet.state.outputs) {
    if (output.coinbase || isImported(output)) continue;
    const id = toHex(output.txHash);
    byTransaction.set(id, [...(byTransaction.get(id) ?? []), output]);
  }
  const groups = [...byTransaction.values()];
  const transactions = await fetchTransactions(
    wallet.daemon,
    groups.map(([output]) => output!.txHash),
  );
  return transactions.flatMap(({ transaction: { prefix, ringct } }, i): ScannedTransaction[] => {
    const inputs = keyInputs(prefix);
    if (!inputs.some(({ keyImage }) => spent.has(toHex(keyImage)))) return [];
    const received = groups[i]!;
    const { txHash, height, timestamp, unlockTime, txSize } = received[0]!;
    const fee = ringct === undefined ? undefined : ringct.type === 0 ? 0n : ringct.fee;
    const { incoming } = wallet.state;
    const [receipt] = incoming.placesOf(txHash);
    const paymentId = receipt === undefined ? undefined : incoming.at(receipt).paymentId;
    return [
      {
        txHash,
        height,
        timestamp,
        unlockTime,
        txSize,
        coinbase: false,
        fee,
        publicAmountOut: publicAmountOut(prefix),
        paymentId: paymentId ?? new Uint8Array(32),
        received,
        inputs,
      },
    ];
  });
}

export type KeyImageSums = { readonly height: number; readonly spent: bigint; readonly unspent: bigint };

/** Spent and unspent atomic units of the first `count` outputs; `status` begins with the output at `offset`. */
function sums(wallet: Wallet, { offset, status }: { offset: number; status: readonly SpentStatus[] }) {
  let [spent, unspent] = [0n, 0n];
  const { outputs } = wallet.state;
  for (let place = 0; place < Math.min(outputs.count, offset + status.length); place++) {
    const output = outputs.at(place)!;
    if (output.frozen) continue;
    const isSpent = place < offset ? output.spentHeight !== undefined : status[place - offset] !== "unspent";
    if (isSpent) spent += output.amount;
    else unspent += output.amount;
  }
  return { spent, unspent };
}

/** Verifies and imports signed key images of the outputs from `offset` on. Throws `WalletRefusal`. */
export async function importKeyImages(
  wallet: Wallet,
  images: readonly SignedKeyImage[],
  offset: number,
): Promise<KeyImageSums> {
  const { outputs } = wallet.state;
  if (offset > outputs.count) throw refusal("Offset larger than known outputs");
  if (images.length > outputs.count - offset)
    throw refusal("The blockchain is out of date compared to the signed key images");
  if (images.length === 0 && offset === 0) return { height: 0, spent: 0n, unspent: 0n };
  const toCheck = images.map((image, i) => {
    return { image, output: outputs.at(offset + i)!, place: `${offset + i}/${images.length}` };
  });
  await wallet.runtime.threads.map("checkKeyImages", toCheck, {});
  const keyImages = images.map(({ keyImage }) => keyImage);
  const status = await learnKeyImagesOf(wallet, keyImages, offset);
  return { height: outputs.at(offset + images.length - 1)!.height, ...sums(wallet, { offset, status }) };
}

/**
 * Imports key images (32 bytes) of the outputs from `offset` on without verifying them; returns where they are spent.
 */
export async function learnKeyImagesOf(
  wallet: Wallet,
  keyImages: readonly Uint8Array[],
  offset: number,
): Promise<SpentStatus[]> {
  const status = await spentStatus(wallet, keyImages);
  const spentImages = new Set(keyImages.filter((_, i) => status[i] === "chain").map(toHex));
  const transactions = spentImages.size === 0 ? [] : await spendersOf(wallet, spentImages);
  await wallet.learnKeyImages({ kind: "keyImages", offset, keyImages, spent: status, transactions });
  return status;
}

/** Queries the node again where the outputs are spent, and changes only what differs from the wallet's state. */
export async function rescanSpent(wallet: Wallet): Promise<void> {
  const withImage = [...wallet.state.outputs].filter(({ keyImage }) => keyImage !== undefined);
  const status = await spentStatus(
    wallet,
    withImage.map(({ keyImage }) => keyImage!),
  );
  const changed = withImage.flatMap((output, i): [string, SpentStatus][] => {
    return isUnspent(output) === (status[i] === "unspent") ? [] : [[toHex(output.keyImage!), status[i]!]];
  });
  if (changed.length > 0) await wallet.commit({ kind: "spent", status: changed });
}
