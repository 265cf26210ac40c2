import {
  BadBytes,
  type Block,
  blockHashingBlob,
  readBlock,
  toHex,
  treeHash,
  writeBlock,
} from "@anulo/protocol";
import { encodeTreeDepth, slotNonce, withAuxiliaryTree } from "../mining/merge-mining.ts";
import type { NodeContext } from "./context.ts";
import { bytesOfHex } from "./hex-params.ts";
import { refusal } from "./refusal.ts";

interface AuxiliaryWork {
  readonly id: string;
  readonly hash: string;
}

interface AuxiliaryRequest {
  readonly blocktemplate_blob: string;
  readonly aux_pow: readonly AuxiliaryWork[];
}

function readWork({ id, hash }: AuxiliaryWork) {
  const chainId = bytesOfHex(id, 32);
  if (chainId === undefined) throw refusal("wrongParam", "Invalid aux pow id");
  const work = bytesOfHex(hash, 32);
  if (work === undefined) throw refusal("wrongParam", "Invalid aux pow hash");
  return { chainId, work };
}

function readTemplate(text: string): Block {
  const blob = bytesOfHex(text);
  if (blob === undefined) throw refusal("wrongParam", "Invalid blocktemplate_blob");
  try {
    return readBlock(blob);
  } catch (error) {
    throw error instanceof BadBytes ? refusal("wrongBlockBlob", "Wrong blocktemplate_blob") : error;
  }
}

/** Answers `add_aux_pow`. Source: core_rpc_server.cpp `on_add_aux_pow`. */
export async function addAuxPow(
  { aux_pow, blocktemplate_blob }: AuxiliaryRequest,
  { rows, signal }: Pick<NodeContext, "rows" | "signal">,
) {
  if (aux_pow.length === 0) throw refusal("wrongParam", "Empty aux pow hash vector");
  const chains = aux_pow.map(readWork);
  const ids = chains.map(({ chainId }) => chainId);
  const nonce = await rows.during((options) => slotNonce(ids, options), { signal });
  if (nonce === undefined) throw refusal("internal", "Failed to find a suitable nonce");
  const root = treeHash(chains.map(({ work }) => work));
  const depth = encodeTreeDepth(chains.length, nonce);
  const template = readTemplate(blocktemplate_blob);
  const block = withAuxiliaryTree(template, { root, depth });
  if (block === undefined) throw refusal("internal", "Error removing existing merkle root");
  return {
    blocktemplate_blob: toHex(writeBlock(block)),
    blockhashing_blob: toHex(blockHashingBlob(block)),
    merkle_root: toHex(root),
    merkle_tree_depth: depth,
    aux_pow: [...aux_pow],
  };
}
