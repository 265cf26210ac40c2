import { powVariantOf, seedHeight } from "@anulo/consensus";
import { blockHashingBlob, toHex } from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";
import { findBranch } from "../chain/branch.ts";
import type { PowWork } from "../pow/work.ts";
import type { NodeContext } from "./context.ts";
import { describeHeader, type FoundBlock } from "./describe-block.ts";
import { mapInTurns } from "./in-turns.ts";

/** Whose headers are asked for. */
export interface HeaderOrder {
  /** Where the blocks were found. */
  readonly read: ChainReader;
  readonly blocks: Iterable<FoundBlock>;
  /** Whether `pow_hash` is to be computed, which a restricted port never does. */
  readonly fillPowHash: boolean;
}

/** Header fields of blocks; `pow_hash` where it is asked for, or where the node knows it (upstream tells nobody). */
export async function describeHeaders(context: NodeContext, { read, blocks, fillPowHash }: HeaderOrder) {
  const chainHeight = context.parts.store.read.height();
  const found = [...blocks];
  const headers = await mapInTurns(found, (block) => describeHeader(block, chainHeight));
  if (!fillPowHash || context.restricted) {
    if (context.dialect === "upstream") return headers;
    return headers.map((header, i) => ({ ...header, pow_hash: hexOf(context.pow.known(found[i]!.hash)) }));
  }
  const hashes = await Promise.all(found.map((block) => powHashOf(context, read, block)));
  return headers.map((header, i) => ({ ...header, pow_hash: hexOf(hashes[i]) }));
}

/** The same for one block. */
export async function describeHeaderOf(
  context: NodeContext,
  { read, block, fillPowHash }: Omit<HeaderOrder, "blocks"> & { readonly block: FoundBlock },
) {
  const [header] = await describeHeaders(context, { read, blocks: [block], fillPowHash });
  return header!;
}

function hexOf(hash: Uint8Array | undefined): string {
  return hash === undefined ? "" : toHex(hash);
}

async function powHashOf({ parts, pow }: NodeContext, read: ChainReader, found: FoundBlock) {
  const { block, hash, height } = found;
  const { majorVersion } = block.header;
  const isSeeded = powVariantOf(majorVersion) === "randomx";
  const schedule = parts.state.view().seedSchedule;
  const seedId = isSeeded ? idBelow(read, hash, seedHeight(height, schedule)) : undefined;
  const work: PowWork = { blob: blockHashingBlob(block), height, majorVersion, seedId };
  return pow.known(hash) ?? (await pow.hash(work));
}

/** Id of the block at a height of the chain that ends with `top`, which may lie beside the main chain. */
function idBelow(read: ChainReader, top: Uint8Array, height: number): Uint8Array | undefined {
  const beside = findBranch(read, top)?.blocks.find((block) => block.height === height);
  return beside?.hash ?? read.blockInfo(height)?.hash;
}
