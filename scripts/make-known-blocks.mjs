/**
 * Extracts the hashes of mainnet's known blocks from a released monerod, which has them built in:
 *
 *   node scripts/make-known-blocks.mjs PATH/TO/monerod
 *
 * They are found by their SHA-256, so any program of 0.18.5.1 or later, for any platform, will do.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./sources.mjs";

/** Groups of 512 blocks taken over, each with two hashes of 32 bytes; later releases have more. */
const GROUPS = 7240;
const MAX_GROUPS = 8192;
const HASHES_LENGTH = GROUPS * 64;
/** Of the file for these groups. Source: blockchain.cpp `expected_block_hashes_hash` of release 0.18.5.1. */
const DIGEST = "2aea941d43024422a63f223c84b9d88d1f58d31e1f508c2d6d43cd637ba32d16";

function countBytes(groups) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(groups);
  return bytes;
}

/** In a program, the number of its groups stands before their hashes. */
function findKnownBlocks(program) {
  for (let groups = GROUPS; groups <= MAX_GROUPS; groups++) {
    const count = countBytes(groups);
    for (let at = program.indexOf(count); at !== -1; at = program.indexOf(count, at + 1)) {
      const hashes = program.subarray(at + count.length, at + count.length + HASHES_LENGTH);
      const bytes = Buffer.concat([countBytes(GROUPS), hashes]);
      if (createHash("sha256").update(bytes).digest("hex") === DIGEST) return bytes;
    }
  }
  throw new Error("this program has other known blocks, or none");
}

const [program] = process.argv.slice(2);
if (program === undefined) throw new Error("usage: make-known-blocks.mjs PROGRAM");
writeFileSync(join(root, "bin/data/known-blocks.dat"), findKnownBlocks(readFileSync(program)));
