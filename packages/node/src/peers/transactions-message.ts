import { writeRecord } from "@anulo/protocol";
import { messages, type PayloadOf } from "./messages.ts";

/** Bytes of whose multiple a padded message is. Source: levin_notify.cpp `make_tx_message`. */
const GRANULARITY = 1024;
const SPACE = " ".charCodeAt(0);

function sizeOf(payload: PayloadOf<"newTransactions">): number {
  return writeRecord(messages.newTransactions.payload, payload).length;
}

/** The same with spaces that make it as long as it should be. */
function padded(payload: PayloadOf<"newTransactions">): PayloadOf<"newTransactions"> {
  const withSpaces = (count: number) => ({ ...payload, _: new Uint8Array(count).fill(SPACE) });
  const missing = (size: number) => (GRANULARITY - (size % GRANULARITY)) % GRANULARITY;
  const first = missing(sizeOf(payload));
  // The count of spaces may itself have grown by a byte.
  return withSpaces(first + missing(sizeOf(withSpaces(first))));
}

/** A message with transactions: to be told to all (fluff) or to one (stem). */
export function transactionsMessage(
  blobs: readonly Uint8Array[],
  { isFluff, isPadded }: { readonly isFluff: boolean; readonly isPadded: boolean },
) {
  const plain = { txs: [...blobs], _: new Uint8Array(), dandelionpp_fluff: isFluff };
  const payload = isPadded ? padded(plain) : plain;
  return { notification: messages.newTransactions, payload };
}
