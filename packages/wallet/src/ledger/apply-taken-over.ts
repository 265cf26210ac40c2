/** How the ledger takes what stood in the original program's cache: what it knows already wins, unless that is newer. Pure. */
import { fromHex, toHex } from "@anulo/protocol";
import type { TakenOver } from "../changes.ts";
import type { AddressBookEntry, OutgoingPayment, WalletState } from "../state.ts";
import { coverSubaddress, indexOutput } from "./apply-blocks.ts";
import type { Ledger } from "./ledger.ts";

/** Labels that nobody has chosen. */
const GIVEN_LABELS: readonly string[] = ["", "Primary account", "Untitled account"];

export function applyTakenOver(ledger: Ledger, change: TakenOver): void {
  const { state } = ledger;
  const { isNewer = false } = change;
  addMissing(state.txKeys, change.txKeys);
  const take = isNewer ? setAll : addMissing;
  take(state.notes, change.notes);
  take(state.attributes, change.attributes);
  for (const payment of change.payments ?? []) takePayment(ledger, payment);
  if (change.addressBook !== undefined) takeAddressBook(state.addressBook, change.addressBook, isNewer);
  takeLabels(state, change.labels ?? [], isNewer);
  takeTags(state, change);
  for (const [key, image] of change.keyImages ?? []) takeKeyImage(ledger, key, image);
  for (const image of change.frozen ?? []) {
    const output = ledger.byKeyImage.get(image);
    if (output !== undefined) output.frozen = true;
    else if (!state.frozenBefore.includes(image)) state.frozenBefore.push(image);
  }
  for (const image of change.thawed ?? []) {
    const output = ledger.byKeyImage.get(image);
    if (output !== undefined) output.frozen = false;
  }
  if (change.cacheId === undefined) return;
  state.takenOverCache = change.cacheId;
  state.sinceCache = change.since ?? "chain";
}

function setAll<V>(known: Map<string, V>, told: readonly (readonly [string, V])[] = []): void {
  for (const [key, value] of told) known.set(key, value);
}

function addMissing<V>(known: Map<string, V>, told: readonly (readonly [string, V])[] = []): void {
  for (const [key, value] of told) if (!known.has(key)) known.set(key, value);
}

/** What a scan has found of a payment made there is completed by what only the cache knows. */
function takePayment({ state, byKeyImage }: Ledger, told: OutgoingPayment): void {
  const id = toHex(told.txHash);
  const known = state.outgoing.get(id);
  if (known === undefined) state.outgoing.set(id, { ...told });
  else if (known.destinations.length === 0) {
    const { destinations, paymentId, createdAt } = told;
    state.outgoing.set(id, { ...known, destinations, paymentId, createdAt });
  }
  if (known !== undefined || told.state === "confirmed" || told.state === "failed") return;
  for (const image of told.keyImages) {
    const output = byKeyImage.get(toHex(image));
    if (output?.spentHeight === undefined && output !== undefined) output.pendingSpend ??= id;
  }
}

function takeAddressBook(
  known: AddressBookEntry[],
  told: readonly AddressBookEntry[],
  isNewer: boolean,
): void {
  const nameOf = ({ address, description }: AddressBookEntry) => `${address} ${description}`;
  const before = new Map(known.map((entry) => [nameOf(entry), entry]));
  if (isNewer) {
    // Long payment ids stand here alone.
    const rows = told.map((entry) => before.get(nameOf(entry)) ?? { ...entry });
    known.length = 0;
    for (const row of rows) known.push(row);
  } else for (const entry of told) if (!before.has(nameOf(entry))) known.push({ ...entry });
}

function takeLabels(state: WalletState, labels: readonly (readonly string[])[], isNewer: boolean): void {
  for (const [major, ofAccount] of labels.entries()) {
    if (ofAccount.length === 0) continue;
    coverSubaddress(state, { major, minor: ofAccount.length - 1 });
    for (const [minor, label] of ofAccount.entries()) {
      const known = state.accounts[major]!.addresses[minor]!;
      if (isNewer || GIVEN_LABELS.includes(known.label)) known.label = label;
    }
  }
}

function takeTags(state: WalletState, { tags = [], tagDescriptions = [], isNewer }: TakenOver): void {
  if (isNewer === true && tags.length > 0) {
    for (const [major, account] of state.accounts.entries()) account.tag = tags[major] ?? "";
    state.accountTags.clear();
    const used = new Set(tags);
    setAll(
      state.accountTags,
      tagDescriptions.filter(([tag]) => used.has(tag)),
    );
    return;
  }
  for (const [major, tag] of tags.entries()) {
    const account = state.accounts[major];
    if (account === undefined || account.tag !== "" || tag === "") continue;
    account.tag = tag;
    if (!state.accountTags.has(tag)) state.accountTags.set(tag, "");
  }
  for (const [tag, description] of tagDescriptions)
    if (state.accountTags.get(tag) === "") state.accountTags.set(tag, description);
}

function takeKeyImage(ledger: Ledger, oneTimeKey: string, keyImage: Uint8Array): void {
  const { coldKeyImages } = ledger.state;
  if (!coldKeyImages.has(oneTimeKey)) coldKeyImages.set(oneTimeKey, keyImage);
  const output = ledger.byOneTimeKey.get(toHex(fromHex(oneTimeKey)));
  if (output === undefined || output.keyImage !== undefined) return;
  output.keyImage = keyImage;
  indexOutput(ledger, output);
}
