/** The history of a wallet as callers receive it. */
import {
  type HistoryContext,
  type listIncoming,
  type listUnconfirmed,
  transferOf,
} from "../src/history/transfers.ts";
import { ended } from "./ended.ts";

const everything = { account: undefined, minors: new Set<number>(), minHeight: 0, maxHeight: 1000 };

export const described = (list: typeof listIncoming | typeof listUnconfirmed, context: HistoryContext) => {
  const found = list(context.state, everything);
  return ("next" in found ? ended(found) : found).map((listed) => transferOf(listed, context));
};
