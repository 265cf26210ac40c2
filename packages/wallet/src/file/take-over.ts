/** Data that only the original program's cache contains, as changes of this wallet. Pure. */
import { formatAddress, keyImagesOf, outputKey, toHex } from "@anulo/protocol";
import type { TakenOver, WalletChange } from "../changes.ts";
import type { AddressBookEntry, NetworkName, OutgoingPayment, OutgoingState, WalletState } from "../state.ts";
import { LINEAGE } from "./cache-of-wallet.ts";
import type { CachedDestination, OriginalCache } from "./original-cache.ts";

/** Items per change: some milliseconds, since each payment has addresses to be formatted. */
const ITEMS_PER_CHANGE = 50;
/** The value that the original writes if it does not know the change. */
const UNKNOWN_AMOUNT = 0xffff_ffff_ffff_ffffn;
/** Source: wallet2.h `unconfirmed_transfer_details::m_state`. */
const statesWhileUnconfirmed: readonly OutgoingState[] = ["pending", "missing", "failed"];

const utf8 = new TextDecoder();
const text = (bytes: Uint8Array): string => utf8.decode(bytes);

type Pairs<V> = readonly { readonly key: Uint8Array; readonly value: V }[];
const byHex = <V, T>(pairs: Pairs<V>, map: (value: V) => T): [string, T][] =>
  pairs.map(({ key, value }) => [toHex(key), map(value)]);

type Taking = {
  readonly network: NetworkName;
  readonly isViewOnly: boolean;
  /** The known state, if the cache was derived from one written here and nothing was edited here since. */
  readonly older?: Readonly<WalletState>;
};

/** Source: cryptonote_tx_utils.h `tx_destination_entry::address`. */
function addressText(to: CachedDestination, paymentId: Uint8Array, network: NetworkName): string {
  if (to.original.length > 0) return text(to.original);
  const { spendPublic, viewPublic } = to;
  if (to.isIntegrated === 1) {
    const short = paymentId.slice(0, 8);
    return formatAddress({ kind: "integrated", spendPublic, viewPublic, paymentId: short }, network);
  }
  const kind = to.isSubaddress === 1 ? "subaddress" : "standard";
  return formatAddress({ kind, spendPublic, viewPublic }, network);
}

type CachedPayment =
  | OriginalCache["confirmed"][number]["value"]
  | OriginalCache["unconfirmed"][number]["value"];

function common(txHash: Uint8Array, cached: CachedPayment, { network }: Taking) {
  const { prefix, amountIn, amountOut, change, paymentId, account, subaddressIndices } = cached;
  return {
    txHash: txHash.slice(),
    blob: undefined,
    amountIn,
    amountOut,
    account,
    subaddressIndices,
    change: change === UNKNOWN_AMOUNT ? 0n : change,
    destinations: cached.destinations.map((to) => {
      return { address: addressText(to, paymentId, network), amount: to.amount };
    }),
    paymentId: paymentId.slice(),
    keyImages: keyImagesOf(prefix).map((image) => image.slice()),
  };
}

function confirmedPayment(
  { key, value }: OriginalCache["confirmed"][number],
  taking: Taking,
): OutgoingPayment {
  const { unlockTime, height } = value;
  const timestamp = Number(value.timestamp);
  const times = { unlockTime, timestamp, createdAt: timestamp, height: Number(height) };
  return { ...common(key, value, taking), ...times, state: "confirmed" };
}

function waitingPayment(
  { key, value }: OriginalCache["unconfirmed"][number],
  taking: Taking,
): OutgoingPayment {
  const times = { timestamp: Number(value.timestamp), createdAt: Number(value.sentTime), height: 0 };
  const state = statesWhileUnconfirmed[value.state] ?? "failed";
  return { ...common(key, value, taking), ...times, unlockTime: value.prefix.unlockTime, state };
}

/** The main secret key, then the additional ones. */
function txKeysOf({ txKeys, additionalTxKeys }: OriginalCache): [string, Uint8Array[]][] {
  const additional = new Map(byHex(additionalTxKeys, (keys) => keys));
  return txKeys.map(({ key, value }) => {
    const id = toHex(key);
    return [id, [value, ...(additional.get(id) ?? [])].map((each) => each.slice())];
  });
}

function addressBookEntry(row: OriginalCache["addressBook"][number], { network }: Taking): AddressBookEntry {
  const { spendPublic, viewPublic, paymentId, hasPaymentId, isSubaddress } = row;
  const kind = isSubaddress === 1 ? "subaddress" : "standard";
  const address =
    hasPaymentId === 1
      ? formatAddress({ kind: "integrated", spendPublic, viewPublic, paymentId }, network)
      : formatAddress({ kind, spendPublic, viewPublic }, network);
  return { address, description: text(row.description), paymentId: "" };
}

/** Key images a view-only wallet has imported. */
function keyImagesOfCache({ transfers, coldKeyImages }: OriginalCache, { isViewOnly }: Taking) {
  const told = byHex(coldKeyImages, (image) => image.slice());
  if (!isViewOnly) return told;
  for (const { prefix, outputIndex, keyImage, keyImageKnown } of transfers) {
    const output = prefix.outputs[Number(outputIndex)];
    const key = output && outputKey(output);
    if (keyImageKnown === 1 && key !== undefined) told.push([toHex(key), keyImage.slice()]);
  }
  return told;
}

/** Changes of some dozen items each, created when they are iterated. */
function* inParts<T, R>(
  items: readonly T[],
  make: (item: T) => R,
  wrap: (part: R[]) => TakenOver,
): Generator<WalletChange> {
  for (let at = 0; at < items.length; at += ITEMS_PER_CHANGE) {
    const part = items.slice(at, at + ITEMS_PER_CHANGE).map(make);
    yield { kind: "takenOver", ...wrap(part) };
  }
}

const asItIs = <T>(item: T): T => item;

type TextPair = { key: Uint8Array; value: Uint8Array };
const ofTexts = ({ key, value }: TextPair) => [text(key), text(value)] as const;

/** Whether the original derived this cache from the one written here last. */
export function continuesOurs(
  { attributes }: OriginalCache,
  { takenOverCache }: Readonly<WalletState>,
): boolean {
  return (
    takenOverCache !== "" &&
    attributes.some(({ key, value }) => text(key) === LINEAGE && text(value) === takenOverCache)
  );
}

/** Data that the original's user may change or delete at any time. A newer address book replaces the wallet's. */
function* takeTexts(cache: OriginalCache, taking: Taking): Generator<WalletChange> {
  const { older } = taking;
  const isNewer = older !== undefined;
  const told = new Map(byHex(cache.notes, text));
  const deleted = [...(older?.notes.keys() ?? [])].filter((id) => !told.has(id));
  const notes = [...told, ...deleted.map((id): [string, string] => [id, ""])];
  const attributes = cache.attributes.filter(({ key }) => text(key) !== LINEAGE);
  const { key: tagDescriptions, value: tags } = cache.accountTags;
  yield* inParts(notes, asItIs, (part) => ({ notes: part, isNewer }));
  yield* inParts(attributes, ofTexts, (part) => ({ attributes: part, isNewer }));
  const book = (rows: typeof cache.addressBook) => rows.map((row) => addressBookEntry(row, taking));
  if (isNewer) yield { kind: "takenOver", isNewer, addressBook: book(cache.addressBook) };
  else yield* inParts(cache.addressBook, asItIs, (rows) => ({ addressBook: book(rows) }));
  yield { kind: "takenOver", isNewer, labels: cache.labels.map((ofAccount) => ofAccount.map(text)) };
  yield { kind: "takenOver", isNewer, tags: tags.map(text), tagDescriptions: tagDescriptions.map(ofTexts) };
}

/** The changes that import the cache, piece by piece; the last change contains the id of the cache. */
export function* takeOver(cache: OriginalCache, id: string, taking: Taking): Generator<WalletChange> {
  yield* inParts(txKeysOf(cache), asItIs, (txKeys) => ({ txKeys }));
  yield* inParts(
    cache.confirmed,
    (each) => confirmedPayment(each, taking),
    (payments) => ({ payments }),
  );
  yield* inParts(
    cache.unconfirmed,
    (each) => waitingPayment(each, taking),
    (payments) => ({ payments }),
  );
  yield* takeTexts(cache, taking);
  yield* inParts(keyImagesOfCache(cache, taking), asItIs, (keyImages) => ({ keyImages }));
  const imagesOf = (isFrozen: number) =>
    cache.transfers.filter(({ frozen, keyImageKnown }) => frozen === isFrozen && keyImageKnown === 1);
  const imageOf = ({ keyImage }: OriginalCache["transfers"][number]) => toHex(keyImage);
  yield* inParts(imagesOf(1), imageOf, (frozen) => ({ frozen }));
  if (taking.older !== undefined) yield* inParts(imagesOf(0), imageOf, (thawed) => ({ thawed }));
  yield { kind: "takenOver", cacheId: id };
}
