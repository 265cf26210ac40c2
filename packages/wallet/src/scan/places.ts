/** Where blocks stand, which the node says and they say themselves: what is not scanned would stay hidden for good. */
import { type BlockOutline, equalBytes } from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";

/** Where a question for blocks starts: at a height above 0, else at the newest block of `history` the node knows. */
export type Position = { readonly history: readonly Uint8Array[]; readonly startHeight: number };

type Placed = Pick<BlockOutline, "id" | "minerHeight"> & { readonly height: number };

/** Throws `WalletRefusal` unless the blocks of an answer stand where they are said to, from where it was asked on. */
export function checkPlaces(blocks: readonly Placed[], { history, startHeight }: Position): void {
  const [first] = blocks;
  if (first === undefined) return;
  const isAsked =
    startHeight > 0 ? first.height === startHeight : history.some((id) => equalBytes(id, first.id));
  if (isAsked && blocks.every(({ minerHeight, height }) => minerHeight === height)) return;
  throw new WalletRefusal("UNKNOWN_ERROR", "the node answered with blocks of another place than asked for");
}
