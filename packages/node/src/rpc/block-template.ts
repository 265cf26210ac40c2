import { powVariantOf } from "@anulo/consensus";
import {
  BadAddress,
  blockHashingBlob,
  encode,
  MAX_NONCE_BYTES,
  parseAddress,
  parseExtra,
  toHex,
  txPublicKey,
  varint,
  writeBlock,
} from "@anulo/protocol";
import { type BlockTemplate, createTemplate, NoTemplate } from "../mining/block-template.ts";
import type { MinerKeys } from "../mining/miner-transaction.ts";
import { runWithoutFailures } from "../mining/without-failures.ts";
import { checkNotBusy, type NodeContext } from "./context.ts";
import { bytesOfHex } from "./hex-params.ts";
import { refusal } from "./refusal.ts";
import { difficultyFields } from "./wide-number.ts";

/** Bytes of the tag and the length between the transaction's public key and a nonce. */
const nonceHeaderBytes = ({ length }: Uint8Array) => 1 + encode(varint, length).length;

interface TemplateRequest {
  readonly wallet_address: string;
  readonly reserve_size: number;
  readonly prev_block: string;
  readonly extra_nonce: string;
}

/** Keys of an address blocks can be mined to; throws the original's refusals. */
export function minerKeys({ parts }: NodeContext, text: string): MinerKeys {
  try {
    const { kind, spendPublic, viewPublic } = parseAddress(text, parts.network.name);
    if (kind === "subaddress") {
      throw refusal("miningToSubaddress", "Mining to subaddress is not supported yet");
    }
    return { spendPublic, viewPublic };
  } catch (error) {
    if (error instanceof BadAddress) throw refusal("wrongWalletAddress", "Failed to parse wallet address");
    throw error;
  }
}

/** The block to build on, undefined for the top; throws for text that is no hash. */
export function previousBlock(text: string): Uint8Array | undefined {
  if (text === "") return undefined;
  const id = bytesOfHex(text, 32);
  if (id === undefined) throw refusal("internal", "Invalid prev_block");
  return id;
}

/** What the caller sees when there is no template; any other error stays as it is. */
export function noTemplate(error: unknown): unknown {
  if (!(error instanceof NoTemplate)) return error;
  return refusal("internal", "Internal error: failed to create block template");
}

function checkSizes({ reserve_size, extra_nonce }: TemplateRequest): void {
  if (reserve_size > MAX_NONCE_BYTES) {
    throw refusal("tooBigReserveSize", `Too big reserved size, maximum ${MAX_NONCE_BYTES}`);
  }
  if (reserve_size > 0 && extra_nonce !== "") {
    throw refusal("wrongParam", "Cannot specify both a reserve_size and an extra_nonce");
  }
  if (extra_nonce.length > 2 * MAX_NONCE_BYTES) {
    throw refusal("tooBigReserveSize", `Too big extra_nonce size, maximum ${2 * MAX_NONCE_BYTES} hex chars`);
  }
}

function nonceOf({ reserve_size, extra_nonce }: TemplateRequest): Uint8Array {
  if (extra_nonce === "") return new Uint8Array(reserve_size);
  const nonce = bytesOfHex(extra_nonce);
  if (nonce === undefined) throw refusal("wrongParam", "Parameter extra_nonce should be a hex string");
  return nonce;
}

/** Where in the blob the reserved bytes begin; 0 where none are reserved. */
function reservedOffset({ block }: BlockTemplate, blob: Uint8Array, nonce: Uint8Array): number {
  const key = txPublicKey(parseExtra(block.minerTransaction.prefix.extra));
  if (nonce.length === 0 || key === undefined) return 0;
  return Buffer.from(blob).indexOf(key) + key.length + nonceHeaderBytes(nonce);
}

/** Answers `get_block_template`. Source: core_rpc_server.cpp `on_getblocktemplate`. */
export async function blockTemplate(request: TemplateRequest, context: NodeContext) {
  checkNotBusy(context);
  checkSizes(request);
  const keys = minerKeys(context, request.wallet_address);
  const extraNonce = nonceOf(request);
  const { random } = context;
  const order = { keys, extraNonce, random, previousId: previousBlock(request.prev_block) };
  try {
    const template = await runWithoutFailures(context.parts, () => createTemplate(context.parts, order));
    return describeTemplate(template, extraNonce);
  } catch (error) {
    throw noTemplate(error);
  }
}

function describeTemplate(template: BlockTemplate, extraNonce: Uint8Array) {
  const { block, seedId, nextSeedId } = template;
  const blob = writeBlock(block);
  const isSeeded = powVariantOf(block.header.majorVersion) === "randomx";
  const isSeedChanging = isSeeded && Buffer.compare(seedId, nextSeedId) !== 0;
  return {
    blockhashing_blob: toHex(blockHashingBlob(block)),
    blocktemplate_blob: toHex(blob),
    ...difficultyFields(template.difficulty),
    expected_reward: template.expectedReward,
    height: template.height,
    next_seed_hash: isSeedChanging ? toHex(nextSeedId) : "",
    prev_hash: toHex(block.header.previousId),
    reserved_offset: reservedOffset(template, blob, extraNonce),
    seed_hash: isSeeded ? toHex(seedId) : "",
    seed_height: isSeeded ? template.seedHeight : 0,
  };
}
