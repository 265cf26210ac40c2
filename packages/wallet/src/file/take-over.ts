/** What stands only in the cache of the original program, as changes of this wallet. Pure. */
import { formatAddress, outputKey, type TransactionPrefix, toHex } from "@anulo/protocol";
import type { TakenOver, WalletChange } from "../changes.ts";
import type { AddressBookEntry, NetworkName, OutgoingPayment, OutgoingState } from "../state.ts";
import type { CachedDestination, OriginalCache } from "./original-cache.ts";

/** Items of one change: a few hundred bytes each, so that no single step takes long. */
const ITEMS_PER_CHANGE = 200;
/** What the original writes where it does not know the change. */
const UNKNOWN_AMOUNT = 0xffff_ffff_ffff_ffffn;
/** Source: wallet2.h `unconfirmed_transfer_details::m_state`. */
const statesWhileUnconfirmed: readonly OutgoingState[] = ["pending", "missing", "failed"];

const utf8 = new TextDecoder();
const text = (bytes: Uint8Array): string => utf8.decode(bytes);

type Pairs<V> = readonly { readonly key: Uint8Array; readonly value: V }[];
const byHex = <V, T>(pairs: Pairs<V>, map: (value: V) => T): [string, T][] =>
  pairs.map(({ key, value }) => [toHex(key), map(value)]);

type Taking = { readonly network: NetworkName; readonly isViewOnly: boolean };

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

const keyImagesOf = ({ inputs }: TransactionPrefix): Uint8Array[] =>
  inputs.flatMap((input) => (input.type === "key" ? [input.keyImage.slice()] : []));

type CachedPayment =
  | OriginalCache["confirmed"][number]["value"]
  | OriginalCache["unconfirmed"][number]["value"];

function common(txHash: Uint8Array, cached: CachedPayment, { network }: Taking) {
  const { prefix, amountIn, amountOut, change, paymentId, account, subaddressIndices } = cached;
  return {
    ...{ txHash: txHash.slice(), blob: undefined, amountIn, amountOut, account, subaddressIndices },
    change: change === UNKNOWN_AMOUNT ? 0n : change,
    destinations: cached.destinations.map((to) => {
      return { address: addressText(to, paymentId, network), amount: to.amount };
    }),
    paymentId: paymentId.slice(),
    keyImages: keyImagesOf(prefix),
  };
}

function paymentsOf({ confirmed, unconfirmed }: OriginalCache, taking: Taking): OutgoingPayment[] {
  const inChain = confirmed.map(({ key, value }): OutgoingPayment => {
    const { unlockTime, height } = value;
    const timestamp = Number(value.timestamp);
    const times = { unlockTime, timestamp, createdAt: timestamp, height: Number(height) };
    return { ...common(key, value, taking), ...times, state: "confirmed" };
  });
  const waiting = unconfirmed.map(({ key, value }): OutgoingPayment => {
    const { unlockTime } = value.prefix;
    const times = {
      unlockTime,
      timestamp: Number(value.timestamp),
      createdAt: Number(value.sentTime),
      height: 0,
    };
    return {
      ...common(key, value, taking),
      ...times,
      state: statesWhileUnconfirmed[value.state] ?? "failed",
    };
  });
  return [...inChain, ...waiting];
}

/** Main secret key first, then the additional ones. */
function txKeysOf({ txKeys, additionalTxKeys }: OriginalCache): [string, Uint8Array[]][] {
  const additional = new Map(byHex(additionalTxKeys, (keys) => keys));
  return txKeys.map(({ key, value }) => {
    const id = toHex(key);
    return [id, [value, ...(additional.get(id) ?? [])].map((each) => each.slice())];
  });
}

function addressBookOf({ addressBook }: OriginalCache, { network }: Taking): AddressBookEntry[] {
  return addressBook.map((row) => {
    const { spendPublic, viewPublic, paymentId, hasPaymentId, isSubaddress } = row;
    const kind = isSubaddress === 1 ? "subaddress" : "standard";
    const address =
      hasPaymentId === 1
        ? formatAddress({ kind: "integrated", spendPublic, viewPublic, paymentId }, network)
        : formatAddress({ kind, spendPublic, viewPublic }, network);
    return { address, description: text(row.description), paymentId: "" };
  });
}

/** Key images a view-only wallet has been told. */
function toldKeyImages({ transfers, coldKeyImages }: OriginalCache, { isViewOnly }: Taking) {
  const told = byHex(coldKeyImages, (image) => image.slice());
  if (!isViewOnly) return told;
  for (const { prefix, outputIndex, keyImage, keyImageKnown } of transfers) {
    const output = prefix.outputs[Number(outputIndex)];
    const key = output && outputKey(output);
    if (keyImageKnown === 1 && key !== undefined) told.push([toHex(key), keyImage.slice()]);
  }
  return told;
}

function inParts<K extends keyof TakenOver>(name: K, items: readonly unknown[]): TakenOver[] {
  const parts: TakenOver[] = [];
  for (let at = 0; at < items.length; at += ITEMS_PER_CHANGE)
    parts.push({ [name]: items.slice(at, at + ITEMS_PER_CHANGE) } as TakenOver);
  return parts;
}

/** Everything worth taking over, a few hundred items a change; the last names the writing of the cache. */
export function takeOver(cache: OriginalCache, id: string, taking: Taking): WalletChange[] {
  const { key: tagDescriptions, value: tags } = cache.accountTags;
  const frozen = cache.transfers.filter((each) => each.frozen === 1 && each.keyImageKnown === 1);
  const pairOfTexts = cache.attributes.map(({ key, value }) => [text(key), text(value)] as const);
  return [
    ...inParts("txKeys", txKeysOf(cache)),
    ...inParts("payments", paymentsOf(cache, taking)),
    ...inParts("notes", byHex(cache.notes, text)),
    ...inParts("attributes", pairOfTexts),
    ...inParts("addressBook", addressBookOf(cache, taking)),
    { labels: cache.labels.map((ofAccount) => ofAccount.map(text)) },
    {
      tags: tags.map(text),
      tagDescriptions: tagDescriptions.map(({ key, value }) => [text(key), text(value)] as const),
    },
    ...inParts("keyImages", toldKeyImages(cache, taking)),
    ...inParts(
      "frozen",
      frozen.map(({ keyImage }) => toHex(keyImage)),
    ),
    { cacheId: id },
  ].map((part) => ({ kind: "takenOver", ...part }));
}
