import {
  difficultyOfNextBlock,
  powVariantOf,
  RuleViolation,
  seedHeight,
  weightLimits,
} from "@anulo/consensus";
import { BadBytes, NULL_HASH, toHex } from "@anulo/protocol";
import { daemon, type Implemented, implementFor, type RpcError } from "@anulo/rpc";
import { acceptBlock } from "../chain/chain.ts";
import { type IncomingBlock, readIncomingBlock } from "../chain/incoming-block.ts";
import { publicEntries } from "../mining/backlog.ts";
import { generateBlocks } from "../mining/generate-blocks.ts";
import { addAuxPow } from "./add-aux-pow.ts";
import { blockTemplate, minerKeys, noTemplate, previousBlock } from "./block-template.ts";
import { busy, checkNotBusy, type NodeContext } from "./context.ts";
import { bytesOfHex } from "./hex-params.ts";
import { miningStatus, setLogHashRate, startMining, stopMining } from "./mining-in-node.ts";
import { refusal } from "./refusal.ts";
import { splitWide } from "./wide-number.ts";

/** CryptoNight variant 1 reads a nonce that ends there; the original dies of less. */
const MIN_BYTES_VARIANT_1 = 43;
/** Bytes a block may exceed the weight limit by before it is parsed. Source: cryptonote_config.h. */
const BLOB_LEEWAY = 100;

/** Difference S11: a blob that is no block is refused like every other block, upstream as a wrong blob. */
function wrongBlob({ dialect }: NodeContext): RpcError {
  if (dialect === "contract") return refusal("blockNotAccepted", "Block not accepted");
  return refusal("wrongBlockBlob", "Wrong block blob");
}

function readSubmitted(text: string, context: NodeContext): IncomingBlock {
  const blob = bytesOfHex(text);
  if (blob === undefined) throw wrongBlob(context);
  try {
    const incoming = readIncomingBlock(blob);
    if (blob.length > weightLimits(context.parts.state.view()).blockLimit + BLOB_LEEWAY) {
      throw refusal("wrongBlockBlobSize", "Block bloc size is too big, rejecting block");
    }
    return incoming;
  } catch (error) {
    throw error instanceof BadBytes ? wrongBlob(context) : error;
  }
}

interface PowRequest {
  readonly major_version: number;
  readonly height: number;
  readonly block_blob: string;
  readonly seed_hash: string;
}

/** Answers `calc_pow`: hashes the bytes as they are given. Source: core_rpc_server.cpp `on_calcpow`. */
async function calcPow(request: PowRequest, { parts, pow }: NodeContext) {
  const { height, major_version: majorVersion } = request;
  const blob = bytesOfHex(request.block_blob);
  if (blob === undefined) throw refusal("wrongBlockBlob", "Wrong block blob");
  const view = parts.state.view();
  if (blob.length > weightLimits(view).blockLimit + BLOB_LEEWAY) {
    throw refusal("wrongBlockBlobSize", "Block blob size is too big, rejecting block");
  }
  const seedHash = bytesOfHex(request.seed_hash, 32);
  if (request.seed_hash !== "" && seedHash === undefined) throw refusal("wrongParam", "Wrong seed hash");
  if (powVariantOf(majorVersion) !== "randomx") {
    if (powVariantOf(majorVersion) === 1 && blob.length < MIN_BYTES_VARIANT_1) {
      throw refusal("wrongBlockBlobSize", "Block blob size is too small for this version");
    }
    return toHex(await pow.hashClaimed({ blob, height, majorVersion, seedId: undefined }));
  }
  const at = seedHeight(height, view.seedSchedule);
  const seedId = seedHash ?? (at < view.height ? view.blockId(at) : NULL_HASH);
  return toHex(await pow.hashClaimed({ blob, height, majorVersion, seedId }));
}

async function submitBlock(blobs: readonly string[], context: NodeContext) {
  if (!context.peers.sync.isSynchronized) return busy;
  if (blobs.length !== 1) throw refusal("wrongParam", "Wrong param");
  const incoming = readSubmitted(blobs[0]!, context);
  try {
    const proofs = context.parts.proofs.chargedTo(context.onWork);
    await acceptBlock({ ...context.parts, proofs }, incoming);
    return { block_id: toHex(incoming.id) };
  } catch (error) {
    if (error instanceof RuleViolation) throw refusal("blockNotAccepted", "Block not accepted");
    throw error;
  }
}

interface GenerateRequest {
  readonly amount_of_blocks: number;
  readonly wallet_address: string;
  readonly prev_block: string;
  readonly starting_nonce: number;
}

/** Reserved like the original does it, so that blocks have the same weight. */
const RESERVED_BYTES = 1;

/** Counted as the calls it stands for: a template for each block that is tried, a submission for each that is made. */
async function generateAndCount(request: GenerateRequest, context: NodeContext) {
  let templates = Math.min(1, request.amount_of_blocks);
  try {
    const answer = await generate(request, context);
    templates = answer.blocks.length;
    if (templates > 0) context.calls.note("submitblock", { count: templates });
    return answer;
  } finally {
    if (templates > 0) context.calls.note("getblocktemplate", { count: templates });
  }
}

async function generate(request: GenerateRequest, context: NodeContext) {
  const { parts, peers } = context;
  if (!peers.sync.isSynchronized) return { ...busy, blocks: [], height: 0 };
  if (parts.network.name !== "regtest") {
    throw refusal("regtestRequired", "Regtest required when generating blocks");
  }
  const count = request.amount_of_blocks;
  if (count === 0) return { blocks: [], height: parts.store.read.height() };
  const keys = minerKeys(context, request.wallet_address);
  const previousId = previousBlock(request.prev_block);
  const extraNonce = new Uint8Array(RESERVED_BYTES);
  const startingNonce = request.starting_nonce;
  try {
    const order = { keys, extraNonce, previousId, count, startingNonce, random: context.random };
    const { ids, height } = await generateBlocks(parts, order, context.pow);
    return { blocks: ids.map(toHex), height };
  } catch (error) {
    if (error instanceof RuleViolation) throw refusal("blockNotAccepted", "Block not accepted");
    throw noTemplate(error);
  }
}

function minerData(context: NodeContext) {
  checkNotBusy(context);
  const { parts } = context;
  const view = parts.state.view();
  const isSeeded = powVariantOf(view.hardForkVersion) === "randomx";
  return {
    already_generated_coins: view.alreadyGenerated,
    difficulty: splitWide(difficultyOfNextBlock(view)).hex,
    height: view.height,
    major_version: view.hardForkVersion,
    median_weight: weightLimits(view).effectiveMedian,
    prev_id: toHex(view.topId),
    seed_hash: toHex(isSeeded ? view.blockId(seedHeight(view.height, view.seedSchedule)) : NULL_HASH),
    tx_backlog: context.backlog
      .choose(view, publicEntries(parts.pool.entries()))
      .map(({ key, weight, fee }) => ({ id: key, weight, fee })),
  };
}

/** Handlers of the calls about mining. */
export function miningHandlers(): Implemented<NodeContext>[] {
  return implementFor<NodeContext>()(daemon.mining, {
    getBlockTemplate: blockTemplate,
    addAuxPow,
    calcPow,
    getMinerData: (_, context) => minerData(context),
    submitBlock,
    generateBlocks: generateAndCount,
    startMining,
    stopMining,
    miningStatus: (_, context) => miningStatus(context),
    setLogHashRate,
  });
}
