/** Where blocks stand, which the node says and they say themselves: what is not scanned would stay hidden for good. */
import { type Block, equalBytes } from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";

/** Where a question for blocks starts: at a height above 0, else at the newest block of `history` the node knows. */
export type Position = { readonly history: readonly Uint8Array[]; readonly startHeight: number };

type Placed = { readonly block: Block; readonly id: Uint8Array; readonly height: number };

/** The height a block is made for. */
function ownHeight({ minerTransaction }: Block): number | undefined {
  const [input] = minerTransaction.prefix.inputs;
  return input?.type === "generation" ? input.height : undefined;
}

/** Throws `WalletRefusal` unless the blocks of an answer stand where they are said to, from where it was asked on. */
export function checkPlaces(blocks: readonly Placed[], { history, startHeight }: Position): void {
  const [first] = blocks;
  if (first === undefined) return;
  const isAsked =
    startHeight > 0 ? first.height === startHeight : history.some((id) => equalBytes(id, first.id));
  if (isAsked && blocks.every(({ block, height }) => ownHeight(block) === height)) return;
  throw new WalletRefusal("UNKNOWN_ERROR", "the node answered with blocks of another place than asked for");
}
