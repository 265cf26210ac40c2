/** How each change moves a wallet's ledger. Pure: no clock, no I/O. */
import { toHex } from "@anulo/protocol";
import type { KeptPayment, WalletChange } from "../changes.ts";
import { replaceItems } from "../lists.ts";
import type { Intent, OutgoingPayment, WalletState } from "../state.ts";
import { applyBlocks, applyTransaction, detachAgain, pendingSpender } from "./apply-blocks.ts";
import {
  applyColdKeyImages,
  applyImportedOutputs,
  applyKeyImages,
  applySpent,
} from "./apply-cold-signing.ts";
import { applyTakenOver } from "./apply-taken-over.ts";
import { createAccount, type Ledger } from "./ledger.ts";

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
    for (const kept of payments) keepPayment(ledger, kept);
    for (const id of unsent) discard(ledger, id);
  },
  outgoingState(ledger, { txHash, state, isSeen }) {
    const payment = ledger.state.outgoing.get(txHash);
    if (payment === undefined || payment.state === "confirmed") return;
    payment.state = state;
    if (isSeen === true) payment.isSeen = true;
    if (state === "failed") releaseInputs(ledger, payment);
    else reserveInputs(ledger, payment);
  },
  discardOutgoing: (ledger, { txHash }) => discard(ledger, txHash),
  txKeys: ({ state }, { txHash, txKeys }) => void state.txKeys.set(txHash, txKeys),
  pool: ({ state }, { payments }) => replaceItems(state.pool, payments),
  newAccount: ({ state }, { label }) => void state.accounts.push(createAccount(label)),
  newAddress({ state }, { account, label, count = 1 }) {
    const { addresses } = state.accounts[account]!;
    for (let i = 0; i < count; i++) addresses.push({ label });
  },
  label({ state }, { index, label }) {
    state.accounts[index.major]!.addresses[index.minor]!.label = label;
  },
  tag({ state }, { accounts, tag }) {
    for (const account of accounts) state.accounts[account]!.tag = tag;
    if (tag !== "" && !state.accountTags.has(tag)) state.accountTags.set(tag, "");
    dropUnusedTags(state);
  },
  tagDescription: ({ state }, { tag, description }) => void state.accountTags.set(tag, description),
  note: ({ state }, { txHash, note }) => void state.notes.set(txHash, note),
  attribute: ({ state }, { key, value }) => void state.attributes.set(key, value),
  frozen({ byKeyImage }, { keyImage, frozen }) {
    const output = byKeyImage.get(keyImage);
    if (output !== undefined) output.frozen = frozen;
  },
  importedOutputs: applyImportedOutputs,
  keyImages: applyKeyImages,
  spent: applySpent,
  coldKeyImages: applyColdKeyImages,
  multisigNonces({ state }, { nonces }) {
    for (const [key, left] of nonces) {
      for (const nonce of state.multisigNonces.get(key) ?? []) nonce.fill(0);
      if (left.length === 0) state.multisigNonces.delete(key);
      else state.multisigNonces.set(key, left);
    }
  },
  multisigInfos({ state }, { infos }) {
    for (const [key, told] of infos) state.multisigInfos.set(key, told);
  },
  rings({ state }, { rings }) {
    for (const [key, ring] of rings) state.rings.set(key, ring);
  },
  addressBook({ state }, { entries }) {
    replaceItems(
      state.addressBook,
      entries.map((entry) => ({ ...entry })),
    );
  },
  takenOver: applyTakenOver,
  settings: ({ state }, { settings }) => void Object.assign(state.settings, settings),
  eventSource({ state }, { source }) {
    state.eventSource = source;
  },
  time({ state }, { seconds }) {
    state.passedSeconds = Math.max(state.passedSeconds, seconds);
  },
  backgroundBegins({ state }, { settings }) {
    state.background = { fromHeight: state.height, transactions: [], settings };
  },
  backgroundEnds(ledger) {
    const { background } = ledger.state;
    if (background !== undefined) detachAgain(ledger, background.fromHeight);
    ledger.state.background = undefined;
  },
};

/** Changes of what the original program may have changed as well, in its cache. */
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

/** Changes of nothing that is in such a cache. */
const ours: ReadonlySet<WalletChange["kind"]> = new Set(["takenOver", "eventSource", "time"]);

/** Whether a kind of change is known: later versions of the program may write others. */
export const isKnownChange = (kind: string): boolean => Object.hasOwn(apply, kind);

/** Moves the ledger by one change. */
export function applyChange(ledger: Ledger, change: WalletChange): void {
  (apply[change.kind] as (ledger: Ledger, change: WalletChange) => void)(ledger, change);
  const { state } = ledger;
  state.changeCount += 1;
  if (edits.has(change.kind)) state.sinceCache = "edits";
  else if (!ours.has(change.kind) && state.sinceCache === "nothing") state.sinceCache = "chain";
}

/** An account's tag lives as long as an account carries it. Source: wallet2.cpp `set_account_tag`. */
function dropUnusedTags(state: WalletState): void {
  for (const tag of state.accountTags.keys()) {
    if (!state.accounts.some((account) => account.tag === tag)) state.accountTags.delete(tag);
  }
}

/** Known keys are kept: metadata handed in to be relayed may name any. */
function keepPayment(ledger: Ledger, { payment, txKeys }: KeptPayment): void {
  const id = toHex(payment.txHash);
  ledger.state.outgoing.set(id, { ...payment });
  if (txKeys.length > 0 && !ledger.state.txKeys.has(id)) ledger.state.txKeys.set(id, txKeys);
  reserveInputs(ledger, payment);
}

/** Its keys stay: a node that says it refused may have passed it on, and only they prove who was paid. */
function discard(ledger: Ledger, id: string): void {
  const payment = ledger.state.outgoing.get(id);
  if (payment === undefined || payment.state === "confirmed") return;
  releaseInputs(ledger, payment);
  ledger.state.outgoing.delete(id);
}

function recordIntent({ state, intentPlaces }: Ledger, intent: Intent): void {
  const place = intentPlaces.get(intent.key) ?? state.intents.length;
  state.intents[place] = intent;
  intentPlaces.set(intent.key, place);
}

function reserveInputs({ byKeyImage }: Ledger, payment: OutgoingPayment): void {
  const id = toHex(payment.txHash);
  for (const image of payment.keyImages) {
    const output = byKeyImage.get(toHex(image));
    if (output !== undefined) output.pendingSpend = id;
  }
}

/** What another payment under way spends as well stays with that one. */
function releaseInputs({ state, byKeyImage }: Ledger, payment: OutgoingPayment): void {
  const id = toHex(payment.txHash);
  for (const image of payment.keyImages) {
    const output = byKeyImage.get(toHex(image));
    if (output?.pendingSpend === id) output.pendingSpend = pendingSpender(state, image, id);
  }
}

/** Like the original, a reset loses destinations; what still waits holds its inputs, unseen until the pool shows it. */
function reset(ledger: Ledger, { hard, keepsNotes = false }: Extract<WalletChange, { kind: "reset" }>): void {
  const { state } = ledger;
  for (const [id, payment] of state.outgoing) {
    const isOver = payment.state === "confirmed" || payment.state === "failed";
    // What was not made here is seen again where it still waits.
    if (isOver || payment.blob === undefined) state.outgoing.delete(id);
    else state.outgoing.set(id, { ...payment, state: "forgotten", destinations: [] });
  }
  detachAgain(ledger, 0);
  state.lastBlockReward = 0n;
  state.pool.length = 0;
  if (hard) {
    state.txKeys.clear();
    if (!keepsNotes) state.notes.clear();
  }
}
