import { powVariantOf, seedHeight } from "@anulo/consensus";
import { type MaybePromise, whenReady } from "@anulo/limits";
import { blockHashingBlob, readBlock } from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";
import { findBranch } from "../chain/branch.ts";
import type { PowWork } from "../pow/work.ts";
import type { NodeContext } from "./context.ts";
import { describeHeader, type FoundBlock } from "./describe-block.ts";
import { depthOf, describeKnownHeader, type Header } from "./read-blocks.ts";

/** The block whose header is requested. */
interface HeaderOrder {
  /** Where the block was found. */
  readonly read: ChainReader;
  readonly block: FoundBlock;
  /** Whether `pow_hash` is to be computed, which a restricted port never does. */
  readonly fillPowHash: boolean;
}

/**
 * Header fields of a block; `pow_hash` if it is requested, or if the node knows it (the upstream dialect returns it
 * only on request).
 */
export function describeHeaderOf(
  context: NodeContext,
  { read, block, fillPowHash }: HeaderOrder,
): MaybePromise<Header> {
  if (!fillPowHash || context.restricted) return describeKnownHeader(context, block);
  const depth = depthOf(context.parts.state.view().height, block.height);
  return whenReady(powHashOf(context, read, block), (powHash) => describeHeader(block, { depth, powHash }));
}

function powHashOf({ parts, pow }: NodeContext, read: ChainReader, block: FoundBlock) {
  const { blob, hash, height } = block;
  const { majorVersion } = block.header;
  const isSeeded = powVariantOf(majorVersion) === "randomx";
  const schedule = parts.state.view().seedSchedule;
  const seedId = isSeeded ? idBelow(read, hash, seedHeight(height, schedule)) : undefined;
  const work: PowWork = { blob: blockHashingBlob(readBlock(blob)), height, majorVersion, seedId };
  return pow.hashOf(hash) ?? pow.hash(work);
}

/** Id of the block at a height of the chain that ends with `top`, which may lie beside the main chain. */
function idBelow(read: ChainReader, top: Uint8Array, height: number): Uint8Array | undefined {
  const beside = findBranch(read, top)?.blocks.find((block) => block.height === height);
  return beside?.hash ?? read.blockField(height, "hash");
}
