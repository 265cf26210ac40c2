/**
 * Merge mining: a block carries the root of a tree over the work of other chains, each in a slot of its own.
 * Source: merge_mining.cpp; core_rpc_server.cpp `on_add_aux_pow`.
 */
import { createHash } from "node:crypto";
import { type MaybePromise, runSliced, type SliceOptions } from "@anulo/limits";
import { type Block, splitExtra, toHex, writeExtra } from "@anulo/protocol";

const MAX_NONCE = 65_535;
/** Separates these hashes from other uses. Source: cryptonote_config.h HASH_KEY_MM_SLOT. */
const SLOT_TAG = 0x6d;

/** The slot of a chain (by its id, 32 bytes) among `chains` slots. */
function slotOf(chainId: Uint8Array, nonce: number, chains: number): number {
  const tail = new Uint8Array(5);
  new DataView(tail.buffer).setUint32(0, nonce, true);
  tail[4] = SLOT_TAG;
  return createHash("sha256").update(chainId).update(tail).digest().readUInt32LE() % chains;
}

function hasDistinctSlots(chainIds: readonly Uint8Array[], nonce: number): boolean {
  const occupiedSlots = new Set<number>();
  for (const id of chainIds) {
    const slot = slotOf(id, nonce, chainIds.length);
    if (occupiedSlots.has(slot)) return false;
    occupiedSlots.add(slot);
  }
  return true;
}

/** Number of chains beyond which no nonce is found in practice: with so many, one of 10^26 would do. */
const MAX_CHAINS = 64;

/**
 * The first nonce with which every chain (by its id, 32 bytes) has a slot of its own; undefined if there is none. Where
 * several have one id there is none.
 */
export function slotNonce(
  chainIds: readonly Uint8Array[],
  options?: SliceOptions,
): MaybePromise<number | undefined> {
  if (chainIds.length > MAX_CHAINS) return undefined;
  const areDistinct = new Set(chainIds.map(toHex)).size === chainIds.length;
  return areDistinct ? runSliced(nonceSteps(chainIds), options) : undefined;
}

function* nonceSteps(chainIds: readonly Uint8Array[]): Generator<void, number | undefined> {
  for (let nonce = 0; nonce <= MAX_NONCE; nonce++) {
    if (hasDistinctSlots(chainIds, nonce)) return nonce;
    yield;
  }
  return undefined;
}

/** Encodes the depth field of a block: the bit length of the number of chains, that number, the nonce. */
export function encodeTreeDepth(chains: number, nonce: number): number {
  let bits = 1;
  while (1 << bits < chains && bits < 16) bits++;
  return ((bits - 1) | ((chains - 1) << 3) | (nonce << (3 + bits))) >>> 0;
}

/** The tree over the work of other chains. */
export interface AuxiliaryTree {
  /** 32 bytes. */
  readonly root: Uint8Array;
  /** As returned by `encodeTreeDepth`. */
  readonly depth: number;
}

/** The block with this tree instead of the one it names; undefined when its extra is damaged. */
export function withAuxiliaryTree(block: Block, { root, depth }: AuxiliaryTree): Block | undefined {
  const { minerTransaction } = block;
  const { fields, unparsed } = splitExtra(minerTransaction.prefix.extra);
  if (unparsed.length > 0) return undefined;
  const others = fields.filter(({ type }) => type !== "mergeMining");
  const tree = { type: "mergeMining", depth: BigInt(depth), merkleRoot: root } as const;
  const extra = Buffer.concat([...others, tree].map((field) => writeExtra([field])));
  const prefix = { ...minerTransaction.prefix, extra: new Uint8Array(extra) };
  return { ...block, minerTransaction: { ...minerTransaction, prefix } };
}
