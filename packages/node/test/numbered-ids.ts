/** An id (32 bytes) that tells the height it was made for. */
export function idOf(height: number): Uint8Array {
  const id = new Uint8Array(32);
  new DataView(id.buffer).setUint32(0, height + 1);
  return id;
}

/** The height of such an id; -1 for zeros. */
export function heightOfId(id: Uint8Array): number {
  return new DataView(id.buffer, id.byteOffset).getUint32(0) - 1;
}
