import { powVariantOf } from "@anulo/consensus";
import { type Block, blockHashingBlob, encode, varint, writeBlock } from "@anulo/protocol";
import { type IncomingBlock, readIncomingBlock } from "../chain/incoming-block.ts";
import type { ChainParts } from "../chain/parts.ts";
import type { PowSearch } from "../pow/work.ts";
import type { BlockTemplate } from "./block-template.ts";

/** The search for a template's nonce. */
export function searchOf(template: BlockTemplate, firstNonce: number): PowSearch {
  const { block, height, difficulty } = template;
  const { majorVersion } = block.header;
  const seedId = powVariantOf(majorVersion) === "randomx" ? template.seedId : undefined;
  const nonceOffset = nonceOffsetOf(block);
  return { blob: blockHashingBlob(block), height, majorVersion, seedId, difficulty, nonceOffset, firstNonce };
}

/** Offset of the nonce in the hashing blob: after the versions, the timestamp and the id of the block below. */
function nonceOffsetOf({ header }: Block): number {
  const { majorVersion, minorVersion, timestamp, previousId } = header;
  const lengths = [majorVersion, minorVersion, timestamp].map((value) => encode(varint, value).length);
  return lengths.reduce((sum, length) => sum + length, previousId.length);
}

/** The template's block with this nonce. */
export function withNonceOf({ block }: BlockTemplate, nonce: number): IncomingBlock {
  return readIncomingBlock(writeBlock({ ...block, header: { ...block.header, nonce } }));
}

/**
 * The template's block with a nonce that was found: its proof of work is recorded as checked, since the search has just
 * computed the hash.
 */
export function provenBlock({ proofs }: ChainParts, template: BlockTemplate, nonce: number): IncomingBlock {
  const incoming = withNonceOf(template, nonce);
  const { height, majorVersion, seedId, difficulty } = searchOf(template, 0);
  const blob = blockHashingBlob(incoming.block);
  proofs.markProven([{ kind: "powHash", blob, height, majorVersion, seedId, difficulty }]);
  return incoming;
}
