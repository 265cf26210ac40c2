/** Writes what the scanner found into the ledger, and takes it back when the chain is reorganised. */
import { equalBytes, toHex } from "@anulo/protocol";
import type { WalletChange } from "../changes.ts";
import { keepWhere } from "../lists.ts";
import { RECENT_BLOCKS } from "../scan/history.ts";
import {
  type OutgoingPayment,
  type OwnedOutput,
  type RecentBlocks,
  type ScannedOutput,
  type ScannedTransaction,
  SOMEBODY,
  type SubaddressIndex,
  type WalletState,
} from "../state.ts";
import type { Ledger } from "./ledger.ts";

/**
 * Confirmations after which a payment counts as final: no deeper reorganisation is followed without being told to.
 * Source: cryptonote_config.h ORPHANED_BLOCKS_MAX_COUNT.
 */
export const DEEP = 100;

type Blocks = Extract<WalletChange, { kind: "blocks" }>;

export function applyBlocks(ledger: Ledger, blocks: Blocks): void {
  const { state } = ledger;
  if (blocks.fromHeight < state.height)
    (blocks.count === 0 ? detachAgain : detachFrom)(ledger, blocks.fromHeight);
  for (const transaction of blocks.transactions) {
    applyTransaction(ledger, transaction);
    state.background?.transactions.push(transaction);
  }
  appendRecent(state.recent, blocks);
  state.height = blocks.fromHeight + blocks.count;
  if (state.height >= state.rescanTo) state.rescanTo = 0;
  if (blocks.count > 0) state.lastBlockReward = blocks.lastBlockReward;
  forgetDeep(ledger);
}

/** A transaction this deep won't have to be sent again, nor will its inputs be spent otherwise. */
function forgetDeep({ state, byKeyImage }: Ledger): void {
  for (const payment of state.outgoing.values()) {
    if (payment.blob === undefined || payment.state !== "confirmed") continue;
    if (payment.height + DEEP > state.height) continue;
    payment.blob = undefined;
    for (const image of payment.keyImages) {
      const output = byKeyImage.get(toHex(image));
      if (output !== undefined) state.rings.delete(toHex(output.oneTimeKey));
    }
  }
}

/** Keeps `recent` an unbroken run that ends with the newest block. */
function appendRecent(recent: RecentBlocks, blocks: Pick<Blocks, "fromHeight" | "count" | "ids">): void {
  const first = blocks.fromHeight + blocks.count - blocks.ids.length;
  if (first !== recent.offset + recent.ids.length) {
    recent.ids.length = 0;
    recent.offset = first;
  }
  for (const id of blocks.ids) recent.ids.push(id);
  trimRecent(recent);
}

function trimRecent(recent: RecentBlocks): void {
  if (recent.ids.length <= 2 * RECENT_BLOCKS) return;
  const excess = recent.ids.length - RECENT_BLOCKS;
  recent.ids.splice(0, excess);
  recent.offset += excess;
}

/** Receipts of one transaction, by subaddress. */
type Receipt = { index: SubaddressIndex; amount: bigint; amounts: bigint[] };

/** What one transaction of the chain brings and takes; doing it again changes nothing. */
export function applyTransaction(ledger: Ledger, transaction: ScannedTransaction): void {
  const receipts = new Map<string, Receipt>();
  for (const output of transaction.received) receive(ledger, { transaction, output, receipts });
  settle(ledger, transaction, receipts);
}

/** What becomes of the receipts: of a transaction that spends they are change, else income. */
function settle(ledger: Ledger, transaction: ScannedTransaction, receipts: Map<string, Receipt>): void {
  const spent = spentBy(ledger, transaction);
  for (const output of spent.outputs) {
    output.spentHeight = transaction.height;
    output.pendingSpend = undefined;
  }
  const fee = feeOf(transaction, spent);
  if (spent.amount > 0n) confirmOutgoing(ledger.state, { transaction, spent, receipts });
  // History is read newest first; inside a transaction the first output then still comes first.
  for (const receipt of [...receipts.values()].reverse()) {
    if (receipt.index.major === spent.account) continue; // change, or a payment inside the account
    ledger.state.incoming.push(paymentOf(transaction, receipt, fee));
  }
}

/** A known transaction again, once a key image tells that it spends: what looked like income was change. */
export function applyLearnt(ledger: Ledger, transaction: ScannedTransaction): void {
  const { incoming } = ledger.state;
  keepWhere(incoming, ({ txHash }) => !equalBytes(txHash, transaction.txHash));
  const receipts = new Map<string, Receipt>();
  for (const output of transaction.received) addReceipt(receipts, output, output.amount);
  settle(ledger, transaction, receipts);
}

/**
 * The payments a pool transaction brings, which never touch the ledger. `counted`: by one-time key (hex), what of the
 * pool counts already; of outputs with one key only the greatest does.
 */
export function poolPayments(
  ledger: Ledger,
  transaction: ScannedTransaction,
  counted: Map<string, bigint>,
): ReturnType<typeof paymentOf>[] {
  const receipts = new Map<string, Receipt>();
  for (const output of transaction.received) {
    const name = toHex(output.oneTimeKey);
    const known = ledger.byOneTimeKey.get(name);
    const before = counted.get(name) ?? known?.amount ?? 0n;
    const isCounted = known !== undefined || counted.has(name);
    if (known?.spentHeight !== undefined || (isCounted && before >= output.amount)) continue;
    counted.set(name, output.amount);
    addReceipt(receipts, output, output.amount - before);
  }
  let account: number | undefined;
  for (const { keyImage } of transaction.inputs) {
    const output = ledger.byKeyImage.get(toHex(keyImage));
    // What somebody spends is gone from the balance already, so the change has to come in again.
    if (output !== undefined && output.pendingSpend !== SOMEBODY) account = output.subaddress.major;
  }
  return [...receipts.values()]
    .filter(({ index }) => index.major !== account)
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

/** Of outputs with the same one-time key only one can be spent, so only the greatest counts. */
function receive(
  ledger: Ledger,
  found: { transaction: ScannedTransaction; output: ScannedOutput; receipts: Map<string, Receipt> },
): void {
  const { transaction, output, receipts } = found;
  const { state } = ledger;
  const name = toHex(output.oneTimeKey);
  const known = ledger.byOneTimeKey.get(name);
  if (known !== undefined && (known.spentHeight !== undefined || known.amount >= output.amount)) return;
  const keyImage = output.keyImage ?? state.coldKeyImages.get(name) ?? known?.keyImage;
  const owned = ownedOutput(transaction, output, { keyImage, replaces: known });
  if (known === undefined) state.outputs.push(owned);
  else state.outputs[state.outputs.indexOf(known)] = owned;
  indexOutput(ledger, owned, name);
  owned.pendingSpend = known?.pendingSpend ?? pendingSpender(state, owned.keyImage);
  owned.frozen = known?.frozen === true || wasFrozen(state, owned);
  coverSubaddress(state, output.subaddress);
  addReceipt(receipts, output, output.amount - (known?.amount ?? 0n));
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
  { keyImage, replaces }: Pick<OwnedOutput, "keyImage" | "replaces">,
): OwnedOutput {
  return {
    outputIndex: output.outputIndex,
    globalIndex: output.globalIndex,
    amount: output.amount,
    mask: output.mask,
    rct: output.rct,
    oneTimeKey: output.oneTimeKey,
    txPublicKey: output.txPublicKey,
    keyImage,
    subaddress: output.subaddress,
    txHash: transaction.txHash,
    height: transaction.height,
    timestamp: transaction.timestamp,
    unlockTime: transaction.unlockTime,
    coinbase: transaction.coinbase,
    txSize: transaction.txSize,
    frozen: false,
    spentHeight: undefined,
    pendingSpend: undefined,
    replaces,
  };
}

/** Makes an output findable by its key (`name` in hex) and key image. */
export function indexOutput(ledger: Ledger, output: OwnedOutput, name = toHex(output.oneTimeKey)): void {
  ledger.byOneTimeKey.set(name, output);
  if (output.keyImage !== undefined) ledger.byKeyImage.set(toHex(output.keyImage), output);
}

/** Frozen before it was found, or found again; told once. */
function wasFrozen({ frozenBefore }: WalletState, { keyImage }: OwnedOutput): boolean {
  if (keyImage === undefined || frozenBefore.length === 0) return false;
  const at = frozenBefore.indexOf(toHex(keyImage));
  if (at === -1) return false;
  frozenBefore.splice(at, 1);
  return true;
}

/** The unconfirmed payment made here, other than `except`, that holds the output with this key image. */
export function pendingSpender(
  state: WalletState,
  image: Uint8Array | undefined,
  except?: string,
): string | undefined {
  if (image === undefined) return undefined;
  for (const [id, payment] of state.outgoing) {
    if (id === except || payment.state === "confirmed" || payment.state === "failed") continue;
    if (payment.keyImages.some((other) => equalBytes(other, image))) return id;
  }
  return undefined;
}

/** Money at an address nobody has asked for yet makes it (and those before it) known. Source: wallet2.cpp `expand_subaddresses`. */
export function coverSubaddress({ accounts }: WalletState, { major, minor }: SubaddressIndex): void {
  while (accounts.length <= major) accounts.push({ tag: "", addresses: [{ label: "Untitled account" }] });
  const { addresses } = accounts[major]!;
  while (addresses.length <= minor) addresses.push({ label: "" });
}

type Spent = { amount: bigint; account: number | undefined; minors: number[]; outputs: OwnedOutput[] };

/** What a transaction takes from the wallet, as far as its key images are known. */
export function spentBy({ byKeyImage }: Ledger, { inputs }: ScannedTransaction): Spent {
  const spent: Spent = { amount: 0n, account: undefined, minors: [], outputs: [] };
  for (const input of inputs) {
    const output = byKeyImage.get(toHex(input.keyImage));
    if (output === undefined) continue;
    spent.outputs.push(output);
    spent.amount += input.amount > 0n ? input.amount : output.amount;
    spent.account = output.subaddress.major;
    if (!spent.minors.includes(output.subaddress.minor)) spent.minors.push(output.subaddress.minor);
  }
  spent.minors.sort((a, b) => a - b);
  return spent;
}

/** Version 1 tells the fee only by what comes in and what goes out. */
function feeOf({ fee, publicAmountOut }: ScannedTransaction, { amount }: Spent): bigint {
  return fee ?? (amount > publicAmountOut ? amount - publicAmountOut : 0n);
}

/** A payment of which only its transaction tells. `change`: what of it comes back to the account that pays. */
export function paymentSeen(transaction: ScannedTransaction, spent: Spent, change: bigint): OutgoingPayment {
  const { txHash, inputs, unlockTime, height, timestamp } = transaction;
  const fee = feeOf(transaction, spent);
  return {
    txHash,
    state: "pending",
    blob: undefined,
    amountIn: spent.amount,
    // Inputs whose key images are not known may have paid the fee.
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
  state: WalletState,
  seen: { transaction: ScannedTransaction; spent: Spent; receipts: Map<string, Receipt> },
): void {
  const { transaction, spent, receipts } = seen;
  const id = toHex(transaction.txHash);
  let change = 0n;
  for (const { index, amount } of receipts.values()) if (index.major === spent.account) change += amount;
  const known = state.outgoing.get(id) ?? { ...paymentSeen(transaction, spent, change), createdAt: 0 };
  const { isUndone: _, ...payment } = known;
  const { height, timestamp } = transaction;
  // All of it came back to the account that paid: shown as a payment of nothing rather than of everything.
  const all = spent.amount === change + feeOf(transaction, spent);
  state.outgoing.set(id, { ...payment, state: "confirmed", height, timestamp, ...(all ? { change } : {}) });
}

/** Undoes blocks that are to be scanned again, which is no reorganisation of the chain. */
export function detachAgain(ledger: Ledger, height: number): void {
  const { state } = ledger;
  state.rescanTo = Math.max(state.rescanTo, state.height);
  detachFrom(ledger, height);
}

/** Undoes every block from `height` on. What only this wallet knows (transaction keys, destinations) stays. */
function detachFrom(ledger: Ledger, height: number): void {
  const { state } = ledger;
  detachOutputs(ledger, height);
  keepWhere(state.incoming, (payment) => payment.height < height);
  detachOutgoing(ledger, height);
  detachRecent(state.recent, height);
  detachBackground(state, height);
  state.height = Math.min(state.height, Math.max(1, height));
}

function detachBackground({ background }: WalletState, height: number): void {
  if (background === undefined) return;
  keepWhere(background.transactions, (transaction) => transaction.height < height);
  background.fromHeight = Math.min(background.fromHeight, Math.max(1, height));
}

function detachRecent(recent: RecentBlocks, height: number): void {
  if (height <= recent.offset) {
    recent.ids.length = 0;
    recent.offset = Math.max(1, height);
  } else if (height < recent.offset + recent.ids.length) recent.ids.length = height - recent.offset;
}

function detachOutputs(ledger: Ledger, height: number): void {
  const { outputs, frozenBefore } = ledger.state;
  const kept: OwnedOutput[] = [];
  for (const newest of outputs) {
    let output: OwnedOutput | undefined = newest;
    while (output !== undefined && output.height >= height) output = output.replaces;
    if (output === undefined) {
      // What its owner wants left alone stays so when it is found again.
      if (newest.frozen && newest.keyImage !== undefined) frozenBefore.push(toHex(newest.keyImage));
      continue;
    }
    if (output.spentHeight !== undefined && output.spentHeight >= height) {
      output.spentHeight = undefined;
      output.frozen = false;
    }
    kept.push(output);
  }
  outputs.splice(0, outputs.length);
  const { requestedFrom } = ledger.state;
  if (requestedFrom !== undefined) ledger.state.requestedFrom = Math.min(requestedFrom, kept.length);
  ledger.byKeyImage.clear();
  ledger.byOneTimeKey.clear();
  for (const output of kept) {
    outputs.push(output);
    indexOutput(ledger, output);
  }
}

function detachOutgoing(ledger: Ledger, height: number): void {
  const { state, byKeyImage } = ledger;
  for (const [id, payment] of state.outgoing) {
    if (payment.state !== "confirmed" || payment.height < height) continue;
    const isMadeHere = payment.blob !== undefined || state.txKeys.has(id) || payment.destinations.length > 0;
    if (!isMadeHere) {
      state.outgoing.delete(id); // the chain is all that tells of it
      continue;
    }
    Object.assign(payment, { state: "pending", height: 0, timestamp: payment.createdAt, isUndone: true });
    for (const image of payment.keyImages) {
      const output = byKeyImage.get(toHex(image));
      if (output !== undefined) output.pendingSpend = id;
    }
  }
}
