import {
  fromHex,
  readBlock,
  readTransaction,
  toHex,
  transactionBlobSize,
  transactionHash,
} from "@anulo/protocol";
import { loadGoldenState, recordedReleases } from "../fixtures.ts";

let sizes: ReadonlyMap<string, number> | undefined;

/** Bytes of every transaction of the recorded chains and pools, by id in hex. */
export function transactionSizes(): ReadonlyMap<string, number> {
  sizes ??= readSizes();
  return sizes;
}

function readSizes(): Map<string, number> {
  const heights = new Map<string, number>();
  for (const { blocks, alt, pool } of recordedReleases.map((release) => loadGoldenState(release))) {
    const blobs = [...blocks.flatMap(({ txs }) => txs), ...pool].map((hex) => fromHex(hex));
    for (const blob of blobs) heights.set(toHex(transactionHash(readTransaction(blob))), blob.length);
    for (const blob of [...blocks.map((block) => block.blob), ...alt]) {
      const { minerTransaction } = readBlock(fromHex(blob));
      heights.set(toHex(transactionHash(minerTransaction)), transactionBlobSize(minerTransaction));
    }
  }
  return heights;
}
