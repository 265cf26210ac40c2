/** How each change updates a wallet's ledger. Pure: no clock, no I/O. */
import { wipe } from "@anulo/crypto";
import { fromHex, toHex } from "@anulo/protocol";
import type { KeptPayment, WalletChange } from "../changes.ts";
import { replaceItems } from "../lists.ts";
import type { AddressBookEntry, Intent, OutgoingPayment } from "../state.ts";
import { applyBlocks, applyTransaction, pendingSpender } from "./apply-blocks.ts";
import {
  applyColdKeyImages,
  applyImportedOutputs,
  applyKeyImages,
  applySpent,
} from "./apply-cold-signing.ts";
import { applyTakenOver } from "./apply-taken-over.ts";
import { detachAll, detachFrom } from "./detach-blocks.ts";
import { createAccount, type Ledger, put } from "./ledger.ts";

type Apply = {
  readonly [K in WalletChange["kind"]]: (ledger: Ledger, change: Extract<WalletChange, { kind: K }>) => void;
};

const apply: Apply = {
  blocks: (ledger, change) => applyBlocks(ledger, change),
  transactions(ledger, { transactions }) {
    for (const transaction of transactions) applyTransaction(ledger, transaction);
  },
  reset: (ledger, change) => reset(ledger, change),
  outgoing: keepPayment,
  intent(ledger, { intent, outcome, payments = [], unsent = [] }) {
    recordIntent(ledger, { ...intent, outcome });
    for (const payment of payments) keepPayment(ledger, payment);
    for (const id of unsent) discard(ledger, id);
  },
  outgoingState(ledger, { txHash, state, isSeen }) {
    const payment = ledger.state.outgoing.get(txHash);
    if (payment === undefined || payment.state === "confirmed") return;
    const changed = { ...payment, state, ...(isSeen === true && { isSeen }) };
    put(ledger, "outgoing", [[txHash, changed]]);
    if (state === "failed") releaseInputs(ledger, payment);
    else reserveInputs(ledger, payment);
  },
  discardOutgoing: (ledger, { txHash }) => discard(ledger, txHash),
  txKeys: (ledger, { txHash, txKeys }) => put(ledger, "txKeys", [[txHash, txKeys]]),
  pool({ state, touched }, { payments }) {
    touched.from("pool", 0);
    replaceItems(state.pool, payments);
  },
  newAccount({ state, touched }, { label }) {
    touched.addresses(state.accounts.length, 0, 1);
    state.accounts.push(createAccount(label));
  },
  newAddress({ state, touched }, { account, label, count = 1 }) {
    const { addresses } = state.accounts[account]!;
    touched.addresses(account, addresses.length, addresses.length + count);
    for (let i = 0; i < count; i++) addresses.push({ label });
  },
  label({ state, touched }, { index, label }) {
    touched.addresses(index.major, index.minor, index.minor + 1);
    state.accounts[index.major]!.addresses[index.minor]!.label = label;
  },
  tag(ledger, { accounts, tag }) {
    const { state, touched } = ledger;
    for (const account of accounts) {
      touched.account(account);
      state.accounts[account]!.tag = tag;
    }
    if (tag !== "" && !state.accountTags.has(tag)) put(ledger, "accountTags", [[tag, ""]]);
    dropUnusedTags(ledger);
  },
  tagDescription: (ledger, { tag, description }) => put(ledger, "accountTags", [[tag, description]]),
  note: (ledger, { txHash, note }) => put(ledger, "notes", [[txHash, note]]),
  attribute: (ledger, { key, value }) => put(ledger, "attributes", [[key, value]]),
  frozen(ledger, { keyImage, frozen }) {
    const place = ledger.state.outputs.placeOfImage(fromHex(keyImage));
    if (place !== undefined) ledger.state.outputs.freeze(place, frozen);
  },
  importedOutputs: applyImportedOutputs,
  keyImages: applyKeyImages,
  spent: applySpent,
  coldKeyImages: applyColdKeyImages,
  multisigNonces(ledger, { nonces }) {
    const { state, touched } = ledger;
    for (const [key, remaining] of nonces) {
      wipe(...(state.multisigNonces.get(key) ?? []));
      if (remaining.length > 0) put(ledger, "multisigNonces", [[key, remaining]]);
      else if (state.multisigNonces.delete(key)) touched.delete("multisigNonces", key);
    }
  },
  multisigInfos: (ledger, { infos }) => put(ledger, "multisigInfos", infos),
  rings: (ledger, { rings }) => put(ledger, "rings", rings),
  addressBook: (ledger, { entries }) => replaceAddressBook(ledger, entries),
  takenOver: applyTakenOver,
  settings: ({ state }, { settings }) => void Object.assign(state.settings, settings),
  eventSource({ state }, { source }) {
    state.eventSource = source;
  },
  time({ state }, { seconds }) {
    state.passedSeconds = Math.max(state.passedSeconds, seconds);
  },
  backgroundBegins({ state, touched }, { settings }) {
    touched.from("backgroundTransactions", 0);
    state.background = { fromHeight: state.height, transactions: [], settings };
  },
  backgroundEnds(ledger) {
    const { background } = ledger.state;
    if (background !== undefined) detachFrom(ledger, background.fromHeight);
    ledger.touched.from("backgroundTransactions", 0);
    ledger.state.background = undefined;
  },
};

/** Changes of data that the original program can change as well, in its cache. */
const edits: ReadonlySet<WalletChange["kind"]> = new Set<WalletChange["kind"]>([
  "newAccount",
  "newAddress",
  "label",
  "tag",
  "tagDescription",
  "note",
  "attribute",
  "frozen",
  "addressBook",
  "reset",
]);

/** Changes of data that such a cache does not contain. */
const ours: ReadonlySet<WalletChange["kind"]> = new Set(["takenOver", "eventSource", "time"]);

/** Whether a kind of change is known: later versions of the program may write other kinds. */
export const isKnownChange = (kind: string): boolean => Object.hasOwn(apply, kind);

/** Applies one change to the ledger. */
export function applyChange(ledger: Ledger, change: WalletChange): void {
  (apply[change.kind] as (ledger: Ledger, change: WalletChange) => void)(ledger, change);
  const { state } = ledger;
  state.changeCount += 1;
  if (edits.has(change.kind)) state.sinceCache = "edits";
  else if (!ours.has(change.kind) && state.sinceCache === "nothing") state.sinceCache = "chain";
}

/** Marks only the entries that differ: the change has all of them, however little is new. */
function replaceAddressBook({ state, touched }: Ledger, entries: readonly AddressBookEntry[]): void {
  const { addressBook } = state;
  const differs = ({ address, description, paymentId }: AddressBookEntry, i: number): boolean => {
    const before = addressBook[i];
    return (
      before?.address !== address || before.description !== description || before.paymentId !== paymentId
    );
  };
  if (entries.length === addressBook.length) {
    for (const [i, entry] of entries.entries()) if (differs(entry, i)) touched.item("addressBook", i);
  } else {
    const first = entries.findIndex(differs);
    touched.from("addressBook", first === -1 ? entries.length : first);
  }
  replaceItems(
    addressBook,
    entries.map((entry) => ({ ...entry })),
  );
}

/** Removes tags that no account has any more. Source: wallet2.cpp `set_account_tag`. */
function dropUnusedTags({ state, touched }: Ledger): void {
  const usedTags = new Set(state.accounts.map((account) => account.tag));
  for (const tag of state.accountTags.keys()) {
    if (usedTags.has(tag)) continue;
    touched.delete("accountTags", tag);
    state.accountTags.delete(tag);
  }
}

/**
 * Stores a payment. Known keys are not replaced: metadata that a caller sends to be relayed may name any transaction.
 */
function keepPayment(ledger: Ledger, { payment, txKeys }: KeptPayment): void {
  const id = toHex(payment.txHash);
  put(ledger, "outgoing", [[id, { ...payment }]]);
  if (txKeys.length > 0 && !ledger.state.txKeys.has(id)) put(ledger, "txKeys", [[id, txKeys]]);
  reserveInputs(ledger, payment);
}

/**
 * Deletes a payment, but not its keys: a node that reports a rejection may still have relayed it, and only they prove
 * who was paid.
 */
function discard(ledger: Ledger, id: string): void {
  const payment = ledger.state.outgoing.get(id);
  if (payment === undefined || payment.state === "confirmed") return;
  releaseInputs(ledger, payment);
  ledger.state.outgoing.delete(id);
}

function recordIntent({ state, intentPlaces, touched }: Ledger, intent: Intent): void {
  const place = intentPlaces.get(intent.key) ?? state.intents.length;
  touched.item("intents", place);
  state.intents[place] = intent;
  intentPlaces.set(intent.key, place);
}

function reserveInputs(ledger: Ledger, payment: OutgoingPayment): void {
  const id = toHex(payment.txHash);
  for (const image of payment.keyImages) {
    const place = ledger.state.outputs.placeOfImage(image);
    if (place !== undefined) ledger.state.outputs.reserve(place, id);
  }
}

/** Frees the inputs of a payment; an input that another unconfirmed payment spends too stays reserved for that one. */
function releaseInputs(ledger: Ledger, payment: OutgoingPayment): void {
  const { outputs } = ledger.state;
  const id = toHex(payment.txHash);
  for (const image of payment.keyImages) {
    const place = ledger.state.outputs.placeOfImage(image);
    if (place !== undefined && outputs.hotAt(place).pendingSpend === id)
      outputs.reserve(place, pendingSpender(ledger.state, image, id));
  }
}

/**
 * Like the original, a reset loses destinations; unconfirmed payments reserve their inputs, but are not shown until
 * they are seen in the pool. So do those in blocks that a reorganisation may still undo: the chain may not have them any
 * more, and nothing else could send them again.
 */
function reset(ledger: Ledger, { hard, keepsNotes = false }: Extract<WalletChange, { kind: "reset" }>): void {
  const { state, touched } = ledger;
  // A payment not created here is found again if it is still in the pool.
  const waiting = state.outgoing
    .unconfirmed()
    .filter((payment) => payment.state !== "failed" && payment.blob !== undefined);
  waiting.push(...state.outgoing.withBlobUpTo(state.height));
  state.outgoing.clear();
  for (const payment of waiting) {
    const forgotten = { ...payment, state: "forgotten", height: 0, destinations: [] } as const;
    put(ledger, "outgoing", [[toHex(payment.txHash), forgotten]]);
  }
  detachAll(ledger);
  state.lastBlockReward = 0n;
  touched.from("pool", 0);
  state.pool.length = 0;
  if (!hard) return;
  state.txKeys.clear();
  if (keepsNotes) return;
  touched.emptiedMap("notes");
  state.notes.clear();
}
