import { powVariantOf, seedHeight } from "@anulo/consensus";
import { blockHashingBlob, toHex } from "@anulo/protocol";
import { type Lasting, lasting } from "@anulo/rpc";
import type { ChainReader } from "@anulo/storage";
import { findBranch } from "../chain/branch.ts";
import type { PowWork } from "../pow/work.ts";
import type { NodeContext } from "./context.ts";
import { blockAt, type FoundBlock, type HeaderFacts, headerFacts } from "./describe-block.ts";
import { type Moment, mapInTurns } from "./in-turns.ts";
import type { KnownHeader, Memory } from "./memory.ts";

/** The block whose header is asked for. */
interface HeaderOrder {
  /** Where the block was found. */
  readonly read: ChainReader;
  readonly block: FoundBlock;
  /** Whether `pow_hash` is to be computed, which a restricted port never does. */
  readonly fillPowHash: boolean;
}

/** Header fields of a block; `pow_hash` where it is asked for, or where the node knows it (upstream tells nobody). */
export async function describeHeaderOf(
  context: NodeContext,
  { read, block, fillPowHash }: HeaderOrder,
): Promise<Header> {
  const facts = headerFacts(block);
  const isWanted = fillPowHash && !context.restricted;
  if (!isWanted) return withChanging(context, { facts, hash: block.hash });
  const pow_hash = toHex(await powHashOf(context, read, block));
  return lasting(facts, { depth: depthOf(context, block.height), pow_hash });
}

/** Headers of main-chain blocks, without computing proofs of work. */
export async function describeHeadersAt(
  context: NodeContext,
  moment: Moment,
  heights: Iterable<number>,
): Promise<Header[]> {
  const memory = context.memory.headers.now();
  const describe = (height: number) => withChanging(context, knownHeader(memory, moment.read, height));
  return await mapInTurns(heights, describe, { moment, signal: context.signal });
}

/** The same for one block, which must be there. */
export function describeHeaderAt(context: NodeContext, height: number): Header {
  const { read } = context.parts.store;
  return withChanging(context, knownHeader(context.memory.headers.now(), read, height));
}

function knownHeader(memory: Memory<number, KnownHeader>, read: ChainReader, height: number): KnownHeader {
  const known = memory.get(height);
  if (known !== undefined) return known;
  const block = blockAt(read, height)!;
  const made = { facts: headerFacts(block), hash: block.hash };
  memory.set(height, made);
  return made;
}

export type Header = Lasting<HeaderFacts & { readonly depth: number; readonly pow_hash: string }>;

function withChanging(context: NodeContext, { facts, hash }: KnownHeader): Header {
  const known = context.dialect === "upstream" ? undefined : context.pow.known(hash);
  return lasting(facts, { depth: depthOf(context, facts.height), pow_hash: hexOf(known) });
}

/** Blocks of the main chain above a height. */
function depthOf({ parts }: NodeContext, height: number): number {
  return Math.max(0, parts.state.view().height - height - 1);
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
