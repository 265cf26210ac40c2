/**
 * Checks the heights of blocks, which the node reports and the blocks contain: a block that is skipped would never be
 * scanned.
 */
import { type BlockOutline, equalBytes } from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";

/**
 * Where a request for blocks starts: at a height above 0, otherwise at the newest block of `history` that the node
 * knows.
 */
export type Position = { readonly history: readonly Uint8Array[]; readonly startHeight: number };

type Placed = Pick<BlockOutline, "id" | "minerHeight"> & { readonly height: number };

/**
 * Throws `WalletRefusal` unless the blocks of a response have the heights that are reported, starting where the request
 * began.
 */
export function checkPlaces(blocks: readonly Placed[], { history, startHeight }: Position): void {
  const [first] = blocks;
  if (first === undefined) return;
  const isAsked =
    startHeight > 0 ? first.height === startHeight : history.some((id) => equalBytes(id, first.id));
  if (isAsked && blocks.every(({ minerHeight, height }) => minerHeight === height)) return;
  throw new WalletRefusal("UNKNOWN_ERROR", "the node answered with blocks of another place than asked for");
}
