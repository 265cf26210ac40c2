import { whenReady } from "@anulo/limits";
import { toHex } from "@anulo/protocol";
import { daemon, type Implemented, implementFor } from "@anulo/rpc";
import { isPublic } from "../pool/entry.ts";
import type { NodeContext } from "./context.ts";
import { bytesOfHex } from "./hex-params.ts";
import { mapInTurns } from "./in-turns.ts";
import { getTransactions } from "./read-transactions.ts";
import { sendRawTransaction } from "./send-raw-transaction.ts";

/** What a restricted port looks up at once. Source: core_rpc_server.cpp RESTRICTED_*. */
const RESTRICTED_KEY_IMAGES = 5000;

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
