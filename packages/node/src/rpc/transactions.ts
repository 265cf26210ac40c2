import { whenReady } from "@anulo/limits";
import { toHex } from "@anulo/protocol";
import { daemon, type Implemented, implementFor } from "@anulo/rpc";
import { isPublic } from "../pool/entry.ts";
import type { NodeContext } from "./context.ts";
import { bytesOfHex } from "./hex-params.ts";
import { mapInTurns } from "./in-turns.ts";
import { sendRawTransaction } from "./send-raw-transaction.ts";
import { findTransaction, transactionEntry } from "./transaction-entry.ts";

/** What a restricted port looks up at once. Source: core_rpc_server.cpp RESTRICTED_*. */
const RESTRICTED_TRANSACTIONS = 100;
const RESTRICTED_KEY_IMAGES = 5000;

interface TransactionsRequest {
  readonly txs_hashes: readonly string[];
  readonly decode_as_json: boolean;
  readonly prune: boolean;
  readonly split: boolean;
}

function noTransactions(status: string) {
  return { status, missed_tx: [], txs: [], txs_as_hex: [], txs_as_json: [] };
}

function getTransactions(request: TransactionsRequest, context: NodeContext) {
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

const unspent = 0;
const spentInChain = 1;
const spentInPool = 2;

/** An image of another length than 32 bytes is no image, so it is unspent. */
function spentStatus({ parts: { store, pool }, restricted }: NodeContext, image: Uint8Array): number {
  if (image.length !== 32) return unspent;
  if (store.read.isKeyImageSpent(image)) return spentInChain;
  const isSeen = pool.spendersOf(toHex(image)).some((key) => !restricted || isPublic(pool.get(key)!.row));
  return isSeen ? spentInPool : unspent;
}

function isKeyImageSpent({ key_images }: { key_images: readonly string[] }, context: NodeContext) {
  if (context.restricted && key_images.length > RESTRICTED_KEY_IMAGES) {
    return { status: "Too many key images queried in restricted mode", spent_status: [] };
  }
  const images = key_images.map((text) => bytesOfHex(text));
  if (images.some((image) => image === undefined)) {
    return { status: "Failed to parse hex representation of key image", spent_status: [] };
  }
  if (images.some((image) => image!.length !== 32)) {
    return { status: "Failed, size of data mismatch", spent_status: [] };
  }
  const keyImages = images as Uint8Array[];
  const { parts, signal, restricted } = context;
  return whenReady(
    parts.store.prefetch(() => ({ keyImages }), { signal, isStranger: restricted }),
    () => {
      const statuses = mapInTurns(keyImages, (image) => spentStatus(context, image), context);
      return whenReady(statuses, (spent_status) => ({ spent_status }));
    },
  );
}

function getOutputIndices({ txid }: { txid: Uint8Array }, { parts }: NodeContext) {
  const { read } = parts.store;
  const stored = txid.length === 32 ? read.transaction(txid) : undefined;
  if (stored === undefined) return { status: "Failed", o_indexes: [] };
  return { o_indexes: [...(read.outputIndices(stored.id) ?? [])] };
}

/** Handlers of the calls about transactions. */
export function transactionHandlers(): Implemented<NodeContext>[] {
  return implementFor<NodeContext>()(daemon.transactions, {
    getTransactions,
    isKeyImageSpent,
    sendRawTransaction,
    getOIndexesBin: getOutputIndices,
  });
}
