import { whenReady } from "@anulo/limits";
import type { ChainCallContext } from "./chain-call-context.ts";
import { bytesOfHex } from "./hex-params.ts";
import { mapInTurns } from "./in-turns.ts";
import { findTransaction, transactionEntry } from "./transaction-entry.ts";

/** What a restricted port looks up at once. Source: core_rpc_server.cpp RESTRICTED_*. */
const RESTRICTED_TRANSACTIONS = 100;

interface TransactionsRequest {
  readonly txs_hashes: readonly string[];
  readonly decode_as_json: boolean;
  readonly prune: boolean;
  readonly split: boolean;
}

function noTransactions(status: string) {
  return { status, missed_tx: [], txs: [], txs_as_hex: [], txs_as_json: [] };
}

/** Answers `/get_transactions`. */
export function getTransactions(request: TransactionsRequest, context: ChainCallContext) {
  const { txs_hashes: texts } = request;
  if (context.restricted && texts.length > RESTRICTED_TRANSACTIONS) {
    return noTransactions("Too many transactions requested in restricted mode");
  }
  const ids: Uint8Array[] = [];
  for (const text of texts) {
    const bytes = bytesOfHex(text);
    if (bytes === undefined) return noTransactions("Failed to parse hex representation of transaction hash");
    if (bytes.length !== 32) return noTransactions("Failed, size of data mismatch");
    ids.push(bytes);
  }
  const { decode_as_json, prune, split } = request;
  const { parts, signal, restricted } = context;
  const readAll = () =>
    mapInTurns(
      ids.keys(),
      (at) => {
        const text = texts[at]!;
        const place = findTransaction(context, ids[at]!);
        if (place === undefined) return text.toLowerCase();
        return transactionEntry(context, place, { text, decode_as_json, prune, split });
      },
      context,
    );
  const reading = parts.store.prefetch(() => ({ transactions: ids }), { signal, isStranger: restricted });
  return whenReady(whenReady(reading, readAll), (answers) => {
    const txs = answers.filter((answer) => typeof answer !== "string");
    return {
      missed_tx: answers.filter((answer) => typeof answer === "string"),
      txs: txs.map(({ entry }) => entry),
      txs_as_hex: txs.map(({ fields }) => fields.as_hex),
      txs_as_json: request.decode_as_json ? txs.map(({ fields }) => fields.as_json) : [],
    };
  });
}
