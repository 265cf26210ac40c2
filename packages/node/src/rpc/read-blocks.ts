import type { ChainCallContext } from "./chain-call-context.ts";
import { blockAt, blockFacts, blockOf, describeHeader, type FoundBlock } from "./describe-block.ts";
import { bytesOfHex } from "./hex-params.ts";
import { drawnAtThisMoment } from "./in-turns.ts";
import { refusal } from "./refusal.ts";

/** Blocks and headers a restricted port gives at once. Source: core_rpc_server.cpp RESTRICTED_*. */
export const RESTRICTED_HEADERS = 1000;

function tooHigh(height: bigint, top: number) {
  return refusal(
    "tooBigHeight",
    `Requested block height: ${height} greater than current top block height: ${top}`,
  );
}

/** The block of the main chain at a height; throws RpcError above the top. */
export function mainBlock({ parts }: ChainCallContext, height: bigint): FoundBlock {
  const count = parts.state.view().height;
  if (height >= BigInt(count)) throw tooHigh(height, count - 1);
  return blockAt(parts.store.read, Number(height))!;
}

/** The block with this id (64 hexadecimal digits), on the main chain or beside it; throws RpcError. */
export function blockByHash({ parts }: ChainCallContext, text: string): FoundBlock {
  const hash = bytesOfHex(text, 32);
  if (hash === undefined) {
    throw refusal("wrongParam", `Failed to parse hex representation of block hash. Hex = ${text}.`);
  }
  const block = blockOf(parts.store.read, hash);
  if (block === undefined)
    throw refusal("internal", `Internal error: can't get block by hash. Hash = ${text}.`);
  return block;
}

/** The block that a call names by its id or else by its height; throws RpcError. */
export function namedBlock(
  context: ChainCallContext,
  { hash, height }: { readonly hash: string; readonly height: bigint },
): FoundBlock {
  return hash === "" ? mainBlock(context, height) : blockByHash(context, hash);
}

/** Header fields on a chain of so many blocks, with `pow_hash` only where the node knows it already. */
export function describeKnownHeader(
  { dialect, pow, parts }: ChainCallContext,
  block: FoundBlock,
  chainHeight = parts.state.view().height,
): Header {
  const powHash = dialect === "upstream" ? undefined : pow.hashOf(block.hash);
  return describeHeader(block, { depth: depthOf(chainHeight, block.height), powHash: powHash ?? "" });
}

export type Header = ReturnType<typeof describeHeader>;

/** Blocks of a chain of so many above a height. */
export function depthOf(chainHeight: number, height: number): number {
  return Math.max(0, chainHeight - height - 1);
}

/** Both heights are inclusive. */
export interface HeaderRange {
  readonly start_height: number;
  readonly end_height: number;
}

/** Height of the chain; throws RpcError where it lacks one of the blocks, or where so many are not given at once. */
export function heightForRange(
  { start_height: start, end_height: end }: HeaderRange,
  { parts, restricted }: ChainCallContext,
): number {
  const count = parts.state.view().height;
  if (end >= count || start > end) throw refusal("tooBigHeight", "Invalid start/end heights.");
  if (restricted && end - start > RESTRICTED_HEADERS)
    throw refusal("restricted", "Too many block headers requested.");
  return count;
}

/** Answers `get_block_headers_range` without computing a proof of work; throws RpcError. */
export function knownHeaders(range: HeaderRange, context: ChainCallContext) {
  const count = heightForRange(range, context);
  const { start_height: start, end_height: end } = range;
  let before: FoundBlock | undefined;
  const headers = drawnAtThisMoment(context.parts.store, end - start + 1, (read, place) => {
    before = blockAt(read, start + place, before)!;
    return describeKnownHeader(context, before, count);
  });
  return { headers };
}

/** Answers `get_block` without computing a proof of work; throws RpcError. */
export function knownBlock(
  named: { readonly hash: string; readonly height: bigint },
  context: ChainCallContext,
) {
  const block = namedBlock(context, named);
  return { ...blockFacts(block), block_header: describeKnownHeader(context, block) };
}
