import { writeRecord } from "@anulo/protocol";
import { messages, type PayloadOf } from "./messages.ts";

/** Bytes of whose multiple a padded message is. Source: levin_notify.cpp `make_tx_message`. */
const GRANULARITY = 1024;
const SPACE = " ".charCodeAt(0);

function paddingFor(payload: PayloadOf<"newTransactions">): Uint8Array {
  const size = writeRecord(messages.newTransactions.payload, payload).length;
  return new Uint8Array((GRANULARITY - (size % GRANULARITY)) % GRANULARITY).fill(SPACE);
}

/** A message with transactions: to be told to all (fluff) or to one (stem). */
export function transactionsMessage(
  blobs: readonly Uint8Array[],
  { isFluff, isPadded }: { readonly isFluff: boolean; readonly isPadded: boolean },
) {
  const plain = { txs: [...blobs], _: new Uint8Array(), dandelionpp_fluff: isFluff };
  const payload = isPadded ? { ...plain, _: paddingFor(plain) } : plain;
  return { notification: messages.newTransactions, payload };
}
