/**
 * How the ledger imports data of the original program's cache: known values are kept, unless the cache is newer. Pure.
 */
import { fromHex, toHex } from "@anulo/protocol";
import type { TakenOver } from "../changes.ts";
import type { AddressBookEntry, OutgoingPayment } from "../state.ts";
import { coverSubaddress } from "./apply-blocks.ts";
import { type Ledger, put } from "./ledger.ts";

/** Labels that no user has chosen. */
const GIVEN_LABELS: readonly string[] = ["", "Primary account", "Untitled account"];

export function applyTakenOver(ledger: Ledger, change: TakenOver): void {
  const { state, touched } = ledger;
  const { isNewer = false } = change;
  putMissing(ledger, "txKeys", change.txKeys ?? []);
  const take = isNewer ? put : putMissing;
  take(ledger, "notes", change.notes ?? []);
  take(ledger, "attributes", change.attributes ?? []);
  for (const payment of change.payments ?? []) takePayment(ledger, payment);
  if (change.addressBook !== undefined) {
    touched.from("addressBook", 0);
    takeAddressBook(state.addressBook, change.addressBook, isNewer);
  }
  takeLabels(ledger, change.labels ?? [], isNewer);
  takeTags(ledger, change);
  for (const [key, image] of change.keyImages ?? []) takeKeyImage(ledger, key, image);
  for (const image of change.frozen ?? []) {
    const place = ledger.state.outputs.placeOfImage(fromHex(image));
    if (place !== undefined) state.outputs.freeze(place, true);
    else if (!state.frozenBefore.includes(image)) {
      touched.item("frozenBefore", state.frozenBefore.length);
      state.frozenBefore.push(image);
    }
  }
  for (const image of change.thawed ?? []) {
    const place = ledger.state.outputs.placeOfImage(fromHex(image));
    if (place !== undefined) state.outputs.freeze(place, false);
  }
  if (change.cacheId === undefined) return;
  state.takenOverCache = change.cacheId;
  state.sinceCache = change.since ?? "chain";
}

const putMissing: typeof put = (ledger, map, entries) => {
  for (const entry of entries) if (!ledger.state[map].has(entry[0])) put(ledger, map, [entry]);
};

/** Adds the data that only the cache has to a payment that a scan has found. */
function takePayment(ledger: Ledger, payment: OutgoingPayment): void {
  const { state } = ledger;
  const id = toHex(payment.txHash);
  const own = state.outgoing.get(id);
  if (own === undefined) put(ledger, "outgoing", [[id, { ...payment }]]);
  else if (own.destinations.length === 0) {
    const { destinations, paymentId, createdAt } = payment;
    put(ledger, "outgoing", [[id, { ...own, destinations, paymentId, createdAt }]]);
  }
  if (own !== undefined || payment.state === "confirmed" || payment.state === "failed") return;
  for (const image of payment.keyImages) {
    const place = ledger.state.outputs.placeOfImage(image);
    if (place === undefined) continue;
    if (state.outputs.isUnspent(place)) state.outputs.reserve(place, id);
  }
}

function takeAddressBook(
  ownEntries: AddressBookEntry[],
  entries: readonly AddressBookEntry[],
  isNewer: boolean,
): void {
  const nameOf = ({ address, description }: AddressBookEntry) => `${address} ${description}`;
  const before = new Map(ownEntries.map((entry) => [nameOf(entry), entry]));
  if (isNewer) {
    // The known entry is kept, since long payment ids are stored only here.
    const rows = entries.map((entry) => before.get(nameOf(entry)) ?? { ...entry });
    ownEntries.length = 0;
    for (const row of rows) ownEntries.push(row);
  } else for (const entry of entries) if (!before.has(nameOf(entry))) ownEntries.push({ ...entry });
}

function takeLabels(ledger: Ledger, labels: readonly (readonly string[])[], isNewer: boolean): void {
  const { state, touched } = ledger;
  for (const [major, ofAccount] of labels.entries()) {
    if (ofAccount.length === 0) continue;
    coverSubaddress(ledger, { major, minor: ofAccount.length - 1 });
    touched.addresses(major, 0, ofAccount.length);
    for (const [minor, label] of ofAccount.entries()) {
      const own = state.accounts[major]!.addresses[minor]!;
      if (isNewer || GIVEN_LABELS.includes(own.label)) own.label = label;
    }
  }
}

function takeTags(ledger: Ledger, { tags = [], tagDescriptions = [], isNewer }: TakenOver): void {
  const { state, touched } = ledger;
  if (isNewer === true && tags.length > 0) {
    for (const [major, account] of state.accounts.entries()) {
      touched.account(major);
      account.tag = tags[major] ?? "";
    }
    touched.emptiedMap("accountTags");
    state.accountTags.clear();
    const used = new Set(tags);
    put(
      ledger,
      "accountTags",
      tagDescriptions.filter(([tag]) => used.has(tag)),
    );
    return;
  }
  for (const [major, tag] of tags.entries()) {
    const account = state.accounts[major];
    if (account === undefined || account.tag !== "" || tag === "") continue;
    touched.account(major);
    account.tag = tag;
    if (!state.accountTags.has(tag)) put(ledger, "accountTags", [[tag, ""]]);
  }
  for (const [tag, description] of tagDescriptions)
    if (state.accountTags.get(tag) === "") put(ledger, "accountTags", [[tag, description]]);
}

function takeKeyImage(ledger: Ledger, oneTimeKey: string, keyImage: Uint8Array): void {
  putMissing(ledger, "coldKeyImages", [[oneTimeKey, keyImage]]);
  const { outputs } = ledger.state;
  const place = outputs.placeOfKey(fromHex(oneTimeKey));
  if (place === undefined || outputs.hasKeyImage(place)) return;
  outputs.learnKeyImage(place, keyImage);
}
