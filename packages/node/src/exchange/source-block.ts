import { inSource, type SourceBlock } from "@anulo/storage";
import { type IncomingBlock, readIncomingBlock } from "../chain/incoming-block.ts";

/** Describes the place of a block, for an error. */
export function placeOf({ height, place }: SourceBlock): string {
  return `block ${height}, ${place}`;
}

/** Reads a block of the source at a path; throws BadSource. */
export function readSourceBlock(path: string, block: SourceBlock): IncomingBlock {
  return inSource(path, placeOf(block), () => readIncomingBlock(block.blob));
}
