/**
 * Verifies a proof of funds with the node: first the checks that need no node, then the entries part by part, so that
 * an invalid proof causes requests only for its first parts; key images last.
 * Source: wallet2.cpp `check_reserve_proof`.
 */
import { checkSignatures } from "@anulo/crypto";
import { forEachSliced, mapSliced } from "@anulo/limits";
import { type ReserveProofEntry, toHex } from "@anulo/protocol";
import { checked, type Daemon } from "../daemon.ts";
import type { WorkThreads } from "../threads/work-threads.ts";
import type { Checking, EntryToCheck } from "./check-reserve.ts";
import { type AddressKeys, prefixHashOf, type ReserveProof } from "./reserve-proof.ts";
import { proofRefusal } from "./text.ts";
import { askTransactions, TRANSACTIONS_PER_CALL } from "./transactions.ts";

/** Number of key images per request. */
const KEY_IMAGES_PER_CALL = 1000;
/** Number of signatures checked before yielding to the event loop. */
const SIGNATURES_AT_ONCE = 64;

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Whether no output is contained twice, and every spend key signed the message and the key images. */
async function isSigned({ entries, spendKeys }: ReserveProof, prefixHash: Uint8Array): Promise<boolean> {
  const images = new Set<string>();
  await forEachSliced(entries, ({ keyImage }) => void images.add(toHex(keyImage)));
  if (images.size !== entries.length) return false;
  for (let at = 0; at < spendKeys.length; at += SIGNATURES_AT_ONCE) {
    if (at > 0) await turn();
    const some = spendKeys.slice(at, at + SIGNATURES_AT_ONCE);
    const signatures = some.map(({ key, signature }) => ({ publicKey: key, signature }));
    if (checkSignatures(prefixHash, signatures).includes(false)) return false;
  }
  return true;
}

/** The entries in order, in parts whose transactions fit into one request. */
function* partsOf(
  entries: readonly ReserveProofEntry[],
): Generator<{ part: ReserveProofEntry[]; txHashes: string[] }> {
  let part: ReserveProofEntry[] = [];
  let txHashes = new Set<string>();
  for (const entry of entries) {
    const txHash = toHex(entry.txHash);
    if (txHashes.size === TRANSACTIONS_PER_CALL && !txHashes.has(txHash)) {
      yield { part, txHashes: [...txHashes] };
      [part, txHashes] = [[], new Set()];
    }
    part.push(entry);
    txHashes.add(txHash);
  }
  if (part.length > 0) yield { part, txHashes: [...txHashes] };
}

type Verdict = PromiseSettledResult<bigint[] | undefined>;

/** Amounts in the order of the entries; returns undefined, or throws, according to the first invalid entry. */
function amountsOf(verdicts: readonly Verdict[]): bigint[] | undefined {
  const amounts: bigint[][] = [];
  for (const verdict of verdicts) {
    if (verdict.status === "rejected") throw verdict.reason;
    if (verdict.value === undefined) return undefined;
    amounts.push(verdict.value);
  }
  return amounts.flat();
}

/**
 * Atomic units that each entry proves; undefined if one proves nothing. The next part is requested while one is
 * checked.
 */
async function checkAll(
  { daemon, threads }: Pick<ReserveQuestion, "daemon" | "threads">,
  entries: readonly ReserveProofEntry[],
  checking: Checking,
): Promise<bigint[] | undefined> {
  const all: bigint[][] = [];
  let underWay: Promise<Verdict[]> = Promise.resolve([]);
  for (const { part, txHashes } of partsOf(entries)) {
    const answers = await askTransactions(daemon, txHashes);
    const byHash = new Map(txHashes.map((txHash, i) => [txHash, answers[i]!]));
    const items = part.map((entry): EntryToCheck => ({ entry, answer: byHash.get(toHex(entry.txHash))! }));
    const before = underWay;
    underWay = Promise.allSettled(threads.share("checkReserve", items, checking));
    const amounts = amountsOf(await before);
    if (amounts === undefined) return undefined;
    all.push(amounts);
  }
  const last = amountsOf(await underWay);
  return last && [...all, last].flat();
}

/** Whether each key image is spent, in the chain or in the pool. */
async function areSpent(daemon: Daemon, keyImages: readonly string[]): Promise<boolean[]> {
  const spent: boolean[] = [];
  for (let at = 0; at < keyImages.length; at += KEY_IMAGES_PER_CALL) {
    const key_images = keyImages.slice(at, at + KEY_IMAGES_PER_CALL);
    const { spent_status } = await checked(daemon.client.isKeyImageSpent({ key_images }));
    if (spent_status.length !== key_images.length)
      throw proofRefusal("Failed to get key image spent status from daemon");
    spent.push(...spent_status.map((status) => status !== 0));
  }
  return spent;
}

function* imagesOf(entries: ReserveProof["entries"]): Generator<Uint8Array, void> {
  for (const { keyImage } of entries) yield keyImage;
}

export type ReserveQuestion = {
  readonly daemon: Daemon;
  readonly address: AddressKeys;
  readonly message: Uint8Array;
  readonly threads: WorkThreads;
};

/**
 * Atomic units that the proof shows, and how much of them is spent by now; undefined if it proves nothing. A proof that
 * contains the same output twice proves nothing. Throws `WalletRefusal` for entries that can't be proofs.
 */
export async function verifyReserve(
  proof: ReserveProof,
  { daemon, address, message, threads }: ReserveQuestion,
): Promise<{ total: bigint; spent: bigint } | undefined> {
  const { entries, headerVersion: version } = proof;
  const prefixHash = await prefixHashOf(message, address, imagesOf(entries));
  if (!(await isSigned(proof, prefixHash))) return undefined;
  const spendKeys = new Set<string>();
  await forEachSliced(proof.spendKeys, ({ key }) => void spendKeys.add(toHex(key)));
  const checking = { prefixHash, viewPublic: address.viewPublic, version, spendKeys };
  const amounts = await checkAll({ daemon, threads }, entries, checking);
  if (amounts === undefined) return undefined;
  const keyImages = await mapSliced(entries, ({ keyImage }) => toHex(keyImage));
  const areGone = await areSpent(daemon, keyImages);
  const sum = (some: readonly bigint[]) => some.reduce((total, amount) => total + amount, 0n);
  return { total: sum(amounts), spent: sum(amounts.filter((_, i) => areGone[i])) };
}
