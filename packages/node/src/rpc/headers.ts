import { powVariantOf, seedHeight } from "@anulo/consensus";
import { type MaybePromise, whenReady } from "@anulo/limits";
import { blockHashingBlob, readBlock } from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";
import { findBranch } from "../chain/branch.ts";
import type { PowWork } from "../pow/work.ts";
import type { NodeContext } from "./context.ts";
import { describeHeader, type FoundBlock } from "./describe-block.ts";

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

/** The same, without computing a proof of work, on a chain of so many blocks. */
export function describeKnownHeader(
  { dialect, pow, parts }: NodeContext,
  block: FoundBlock,
  chainHeight = parts.state.view().height,
): Header {
  const powHash = dialect === "upstream" ? undefined : pow.hashOf(block.hash);
  return describeHeader(block, { depth: depthOf(chainHeight, block.height), powHash: powHash ?? "" });
}

export type Header = ReturnType<typeof describeHeader>;

/** Blocks of a chain of so many above a height. */
function depthOf(chainHeight: number, height: number): number {
  return Math.max(0, chainHeight - height - 1);
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
