/**
 * The order in which the original lists hashes (32 bytes each) of its pool and of alternative blocks: as
 * eight little-endian 32-bit words, the last word first. Source: db_lmdb.cpp `compare_hash32`.
 */
export function compareTableOrder(a: Uint8Array, b: Uint8Array): number {
  const left = new DataView(a.buffer, a.byteOffset, 32);
  const right = new DataView(b.buffer, b.byteOffset, 32);
  for (let at = 28; at >= 0; at -= 4) {
    const difference = left.getUint32(at, true) - right.getUint32(at, true);
    if (difference !== 0) return difference;
  }
  return 0;
}
