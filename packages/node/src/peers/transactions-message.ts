import { writeRecord } from "@anulo/protocol";
import { messages, type PayloadOf } from "./messages.ts";

/** The length of a padded message is a multiple of this. Source: levin_notify.cpp `make_tx_message`. */
const GRANULARITY = 1024;
const SPACE = " ".charCodeAt(0);

function sizeOf(payload: PayloadOf<"newTransactions">): number {
  return writeRecord(messages.newTransactions.payload, payload).length;
}

/** The same payload with the spaces that pad the message to its length. */
function padded(payload: PayloadOf<"newTransactions">): PayloadOf<"newTransactions"> {
  const withSpaces = (count: number) => ({ ...payload, _: new Uint8Array(count).fill(SPACE) });
  const missing = (size: number) => (GRANULARITY - (size % GRANULARITY)) % GRANULARITY;
  const first = missing(sizeOf(payload));
  // The count of spaces may itself have grown by a byte.
  return withSpaces(first + missing(sizeOf(withSpaces(first))));
}

/** A message with transactions, to be relayed to all peers (fluff) or to one (stem). */
export function transactionsMessage(
  blobs: readonly Uint8Array[],
  { isFluff, isPadded }: { readonly isFluff: boolean; readonly isPadded: boolean },
) {
  const plain = { txs: [...blobs], _: new Uint8Array(), dandelionpp_fluff: isFluff };
  const payload = isPadded ? padded(plain) : plain;
  return { notification: messages.newTransactions, payload };
}
