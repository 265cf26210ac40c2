/** Applies the scanner's results to the ledger. */
import { equalBytes, toHex } from "@anulo/protocol";
import { type BlocksChange, isReorganisation, undoneBy } from "../changes.ts";
import type { HotOutput } from "../outputs/output-page.ts";
import { type OwnedOutput, SOMEBODY, type SubaddressIndex } from "../outputs/owned-output.ts";
import { RECENT_BLOCKS } from "../scan/history.ts";
import type { OutgoingPayment, ScannedOutput, ScannedTransaction, WalletState } from "../state.ts";
import { isReturned } from "../transfer/change.ts";
import { detachFrom, detachTransactions } from "./detach-blocks.ts";
import { type Ledger, put } from "./ledger.ts";

/**
 * Confirmations after which a payment counts as final: deeper reorganisations are followed only on explicit request.
 * Source: cryptonote_config.h ORPHANED_BLOCKS_MAX_COUNT.
 */
export const DEEP = 100;

const NO_ID = new Uint8Array(0);

export function applyBlocks(ledger: Ledger, blocks: BlocksChange): void {
  const { state, touched } = ledger;
  const undoneFrom = undoneBy(blocks, state);
  if (undoneFrom < Number.POSITIVE_INFINITY) detachFrom(ledger, undoneFrom, isReorganisation(blocks));
  if (blocks.undone !== undefined)
    detachTransactions(ledger, blocks.fromHeight, {
      ids: blocks.undone,
      isReorganised: isReorganisation(blocks),
    });
  for (const transaction of blocks.transactions) {
    applyTransaction(ledger, transaction);
    if (state.background === undefined) continue;
    touched.item("backgroundTransactions", state.background.transactions.length);
    state.background.transactions.push(transaction);
  }
  appendRecent(ledger, blocks);
  state.height = blocks.fromHeight + blocks.count;
  state.partId = blocks.partId ?? NO_ID;
  if (state.height >= state.rescanTo) {
    state.rescanTo = 0;
    state.reorganisedFrom = 0;
  }
  state.outputs.pass(state.height);
  if (blocks.count > 0) state.lastBlockReward = blocks.lastBlockReward;
  forgetDeep(ledger);
}

/**
 * Deletes data that a transaction this deep no longer needs: it won't be sent again, nor will its inputs be spent
 * otherwise.
 */
function forgetDeep(ledger: Ledger): void {
  const { state, touched } = ledger;
  for (const payment of state.outgoing.withBlobUpTo(state.height - DEEP)) {
    put(ledger, "outgoing", [[toHex(payment.txHash), { ...payment, blob: undefined }]]);
    for (const image of payment.keyImages) {
      const output = state.outputs.withImage(image);
      if (output === undefined) continue;
      const key = toHex(output.oneTimeKey);
      if (state.rings.delete(key)) touched.delete("rings", key);
    }
  }
}

/** Keeps `recent` a gapless range that ends with the newest block. */
function appendRecent(
  { state: { recent }, touched }: Ledger,
  blocks: Pick<BlocksChange, "fromHeight" | "count" | "ids">,
): void {
  const first = blocks.fromHeight + blocks.count - blocks.ids.length;
  if (first !== recent.end) recent.begin(first);
  touched.recent(first);
  recent.appendList(blocks.ids);
  if (recent.length > 2 * RECENT_BLOCKS) recent.keepNewest(RECENT_BLOCKS);
}

/** What one subaddress receives in one transaction. */
type Receipt = { index: SubaddressIndex; amount: bigint; amounts: bigint[] };

/** Applies the receipts and spends of one transaction of the chain; applying it again changes nothing. */
export function applyTransaction(ledger: Ledger, transaction: ScannedTransaction): void {
  const receipts = new Map<string, Receipt>();
  moveOutputs(ledger, transaction, receipts);
  for (const output of transaction.received) receive(ledger, { transaction, output, receipts });
  settle(ledger, transaction, receipts);
}

/**
 * Puts what is known of a transaction into the block it is in now: it was scanned alone, ahead of the blocks, and its
 * block was reorganised before these were scanned.
 */
function moveOutputs(ledger: Ledger, transaction: ScannedTransaction, receipts: Map<string, Receipt>): void {
  const { outputs } = ledger.state;
  const { txHash, height, timestamp, received } = transaction;
  for (const output of received) {
    const { outputIndex, globalIndex, oneTimeKey } = output;
    const place = outputs.placeOfKey(oneTimeKey);
    if (place === undefined || outputs.heightOf(place) === height) continue;
    const own = outputs.at(place)!;
    if (own.outputIndex !== outputIndex || !equalBytes(own.txHash, txHash)) continue;
    if (receipts.size === 0) removeReceipts(ledger, [transaction]);
    outputs.replace(place, { ...own, height, timestamp, globalIndex });
    addReceipt(receipts, output, output.amount - (own.replaces?.amount ?? 0n));
  }
}

/** Records the receipts: those of a transaction that spends are change, others are income. */
function settle(ledger: Ledger, transaction: ScannedTransaction, receipts: Map<string, Receipt>): void {
  const { state } = ledger;
  const spent = spentBy(ledger, transaction);
  for (const place of spent.places) {
    state.outputs.spend(place, transaction.height);
    state.outputs.reserve(place, undefined);
  }
  const fee = feeOf(transaction, spent);
  if (spent.amount > 0n) confirmOutgoing(ledger, { transaction, spent, receipts });
  // History is read newest first; with this order the first output of a transaction still comes first.
  for (const receipt of [...receipts.values()].reverse()) {
    if (isReturned(receipt.index, spent.account)) continue;
    state.incoming.push(paymentOf(transaction, receipt, fee));
  }
}

/** Applies known transactions again, once key images show that they spend: what looked like income was change. */
export function applyLearnt(ledger: Ledger, transactions: readonly ScannedTransaction[]): void {
  removeReceipts(ledger, transactions);
  for (const transaction of transactions) {
    removeReceipts(ledger, [transaction]); // of the same transaction earlier in the list
    const receipts = new Map<string, Receipt>();
    for (const output of transaction.received) addReceipt(receipts, output, output.amount);
    settle(ledger, transaction, receipts);
  }
}

function removeReceipts({ state: { incoming } }: Ledger, transactions: readonly ScannedTransaction[]): void {
  const places = new Set(transactions.flatMap(({ txHash }) => incoming.placesOf(txHash)));
  incoming.removeAt([...places].sort((a, b) => a - b));
}

/**
 * Returns the payments that a pool transaction contains; it does not change the ledger. `counted`: by one-time key
 * (hex), amounts of the pool counted so far; of outputs with the same key only the largest counts.
 */
export function poolPayments(
  ledger: Ledger,
  transaction: ScannedTransaction,
  counted: Map<string, bigint>,
): ReturnType<typeof paymentOf>[] {
  const receipts = new Map<string, Receipt>();
  for (const output of transaction.received) {
    const name = toHex(output.oneTimeKey);
    const existing = ledger.state.outputs.withKey(output.oneTimeKey);
    const before = counted.get(name) ?? existing?.amount ?? 0n;
    const isCounted = existing !== undefined || counted.has(name);
    if (existing?.spentHeight !== undefined || (isCounted && before >= output.amount)) continue;
    counted.set(name, output.amount);
    addReceipt(receipts, output, output.amount - before);
  }
  let account: number | undefined;
  for (const { keyImage } of transaction.inputs) {
    const output = ledger.state.outputs.withImage(keyImage);
    // An output spent by a transaction not created here has left the balance already, so its change counts as income.
    if (output !== undefined && output.pendingSpend !== SOMEBODY) account = output.subaddress.major;
  }
  return [...receipts.values()]
    .filter(({ index }) => !isReturned(index, account))
    .map((receipt) => paymentOf(transaction, receipt, transaction.fee ?? 0n));
}

function paymentOf(transaction: ScannedTransaction, receipt: Receipt, fee: bigint) {
  const { txHash, paymentId, height, timestamp, unlockTime, coinbase } = transaction;
  const { amount, amounts, index } = receipt;
  return {
    txHash,
    paymentId,
    amount,
    amounts,
    fee,
    height,
    timestamp,
    unlockTime,
    coinbase,
    subaddress: index,
  };
}

/** Adds an output. Of outputs with the same one-time key only one can be spent, so only the largest counts. */
function receive(
  ledger: Ledger,
  receipt: { transaction: ScannedTransaction; output: ScannedOutput; receipts: Map<string, Receipt> },
): void {
  const { transaction, output, receipts } = receipt;
  const { state } = ledger;
  const knownAt = state.outputs.placeOfKey(output.oneTimeKey);
  const existing = knownAt === undefined ? undefined : state.outputs.at(knownAt);
  if (existing !== undefined && (existing.spentHeight !== undefined || existing.amount >= output.amount))
    return;
  const keyImage = output.keyImage ?? state.coldKeyImages.get(toHex(output.oneTimeKey)) ?? existing?.keyImage;
  const owned = ownedOutput(transaction, output, {
    keyImage,
    replaces: existing,
    pendingSpend: existing?.pendingSpend ?? pendingSpender(state, keyImage),
    frozen: existing?.frozen === true || wasFrozen(ledger, keyImage),
  });
  if (knownAt === undefined) state.outputs.push(owned);
  else state.outputs.replace(knownAt, owned);
  coverSubaddress(ledger, output.subaddress);
  addReceipt(receipts, output, output.amount - (existing?.amount ?? 0n));
}

function addReceipt(receipts: Map<string, Receipt>, output: ScannedOutput, gained: bigint): void {
  const key = `${output.subaddress.major}/${output.subaddress.minor}`;
  const receipt = receipts.get(key) ?? { index: output.subaddress, amount: 0n, amounts: [] };
  receipt.amount += gained;
  receipt.amounts.push(output.amount);
  receipts.set(key, receipt);
}

function ownedOutput(
  transaction: ScannedTransaction,
  output: ScannedOutput,
  before: Pick<OwnedOutput, "keyImage" | "replaces" | "frozen" | "pendingSpend">,
): OwnedOutput {
  return {
    outputIndex: output.outputIndex,
    globalIndex: output.globalIndex,
    amount: output.amount,
    mask: output.mask,
    rct: output.rct,
    oneTimeKey: output.oneTimeKey,
    txPublicKey: output.txPublicKey,
    subaddress: output.subaddress,
    txHash: transaction.txHash,
    height: transaction.height,
    timestamp: transaction.timestamp,
    unlockTime: transaction.unlockTime,
    coinbase: transaction.coinbase,
    txSize: transaction.txSize,
    spentHeight: undefined,
    ...before,
  };
}

/** Whether the output was frozen before it was found, or found again; removes the mark. */
function wasFrozen({ state: { frozenBefore }, touched }: Ledger, keyImage: Uint8Array | undefined): boolean {
  if (keyImage === undefined || frozenBefore.length === 0) return false;
  const at = frozenBefore.indexOf(toHex(keyImage));
  if (at === -1) return false;
  frozenBefore.splice(at, 1);
  touched.from("frozenBefore", at);
  return true;
}

/** Id of the unconfirmed payment created here, other than `except`, that spends the output with this key image. */
export function pendingSpender(
  state: WalletState,
  image: Uint8Array | undefined,
  except?: string,
): string | undefined {
  if (image === undefined) return undefined;
  return state.outgoing.spenderOf(image, except);
}

/**
 * A payment to an address not created yet creates it and those before it. Source: wallet2.cpp `expand_subaddresses`.
 */
export function coverSubaddress(
  { state: { accounts }, touched }: Ledger,
  { major, minor }: SubaddressIndex,
): void {
  while (accounts.length <= major) {
    touched.addresses(accounts.length, 0, 1);
    accounts.push({ tag: "", addresses: [{ label: "Untitled account" }] });
  }
  const { addresses } = accounts[major]!;
  touched.addresses(major, addresses.length, minor + 1);
  while (addresses.length <= minor) addresses.push({ label: "" });
}

type Spent = {
  amount: bigint;
  account: number | undefined;
  minors: number[];
  outputs: HotOutput[];
  /** Places of these outputs. */
  places: number[];
};

/** The amount and the outputs that a transaction spends, as far as its key images are known. */
export function spentBy({ state: { outputs } }: Ledger, { inputs }: ScannedTransaction): Spent {
  const spent: Spent = { amount: 0n, account: undefined, minors: [], outputs: [], places: [] };
  for (const input of inputs) {
    const place = outputs.placeOfImage(input.keyImage);
    if (place === undefined) continue;
    const output = outputs.hotAt(place);
    spent.outputs.push(output);
    spent.places.push(place);
    spent.amount += input.amount > 0n ? input.amount : output.amount;
    spent.account = output.subaddress.major;
    if (!spent.minors.includes(output.subaddress.minor)) spent.minors.push(output.subaddress.minor);
  }
  spent.minors.sort((a, b) => a - b);
  return spent;
}

/** In version 1 the fee is only known as the difference between inputs and outputs. */
function feeOf({ fee, publicAmountOut }: ScannedTransaction, { amount }: Spent): bigint {
  return fee ?? (amount > publicAmountOut ? amount - publicAmountOut : 0n);
}

/** A payment of which only the transaction is known. `change`: amount that returns to the paying account. */
export function paymentSeen(transaction: ScannedTransaction, spent: Spent, change: bigint): OutgoingPayment {
  const { txHash, inputs, unlockTime, height, timestamp } = transaction;
  const fee = feeOf(transaction, spent);
  return {
    txHash,
    state: "pending",
    blob: undefined,
    amountIn: spent.amount,
    // Inputs whose key images are unknown may have paid the fee.
    amountOut: spent.amount > fee ? spent.amount - fee : 0n,
    change,
    destinations: [],
    paymentId: new Uint8Array(32),
    account: spent.account ?? 0,
    subaddressIndices: spent.minors,
    keyImages: inputs.map(({ keyImage }) => keyImage),
    unlockTime,
    createdAt: timestamp,
    timestamp,
    height,
  };
}

/** Source: wallet2.cpp `process_unconfirmed`, `process_outgoing`. */
function confirmOutgoing(
  ledger: Ledger,
  parts: { transaction: ScannedTransaction; spent: Spent; receipts: Map<string, Receipt> },
): void {
  const { transaction, spent, receipts } = parts;
  const { state } = ledger;
  const id = toHex(transaction.txHash);
  let change = 0n;
  for (const { index, amount } of receipts.values()) if (isReturned(index, spent.account)) change += amount;
  const ownPayment = state.outgoing.get(id) ?? { ...paymentSeen(transaction, spent, change), createdAt: 0 };
  const { isUndone: _, ...payment } = ownPayment;
  const { height, timestamp } = transaction;
  // If all of it returned to the paying account, the history shows a payment of zero rather than of the whole amount.
  const all = spent.amount === change + feeOf(transaction, spent);
  const confirmed = {
    ...payment,
    state: "confirmed",
    height,
    timestamp,
    ...(all ? { change } : {}),
  } as const;
  put(ledger, "outgoing", [[id, confirmed]]);
}
