import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type KnownBlocks, parseKnownBlocks } from "@anulo/node";

/**
 * SHA-256 of mainnet's known blocks in release 0.18.5: up to height 3,706,880.
 * Source: blockchain.cpp `expected_block_hashes_hash`.
 */
const MAINNET_DIGEST = "2aea941d43024422a63f223c84b9d88d1f58d31e1f508c2d6d43cd637ba32d16";

const file = new URL("../../data/known-blocks.dat", import.meta.url);

/**
 * The known blocks of mainnet, as shipped. Throws if the file was changed, since blocks with these hashes are not
 * verified.
 */
export function readKnownBlocks(): KnownBlocks {
  const bytes = readFileSync(file);
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (digest !== MAINNET_DIGEST)
    throw new Error(`known blocks with SHA-256 ${digest}, not ${MAINNET_DIGEST}`);
  return parseKnownBlocks(bytes);
}
