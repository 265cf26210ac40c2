import { keccak256 } from "@anulo/crypto";

/**
 * Root (32 bytes) of the tree of transaction ids of a block: the last ones are paired first, so that a power of
 * two remains. Throws `RangeError` without ids. Source: crypto/tree-hash.c; CNS003.
 */
export function treeHash(hashes: readonly Uint8Array[]): Uint8Array {
  if (hashes.length === 0) throw new RangeError("a tree has at least one leaf");
  if (hashes.length === 1) return hashes[0]!.slice();
  let width = 1;
  while (width * 2 < hashes.length) width *= 2;
  const untouched = 2 * width - hashes.length;
  let row = [...hashes.slice(0, untouched), ...pairs(hashes.slice(untouched))];
  while (row.length > 1) row = pairs(row);
  return row[0]!;
}

function pairs(row: readonly Uint8Array[]): Uint8Array[] {
  const above: Uint8Array[] = [];
  for (let i = 0; i < row.length; i += 2) above.push(keccak256(row[i]!, row[i + 1]!));
  return above;
}
