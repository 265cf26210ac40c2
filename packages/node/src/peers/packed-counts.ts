import { BadBytes, epee, type Field } from "@anulo/protocol";

const packedWords = epee.packedBytes(8);

function numbersOf(joined: Uint8Array): number[] {
  const view = new DataView(joined.buffer, joined.byteOffset, joined.byteLength);
  return Array.from({ length: joined.length / 8 }, (_, i) => {
    const high = view.getUint32(8 * i + 4, true);
    if (high >= 2 ** 21) throw new BadBytes("number above 2^53");
    return high * 2 ** 32 + view.getUint32(8 * i, true);
  });
}

function bytesOfCount(value: number): Uint8Array {
  const word = new Uint8Array(8);
  new DataView(word.buffer).setBigUint64(0, BigInt(value), true);
  return word;
}

/** Whole numbers below 2^53, 8 bytes each, little-endian, joined in one string. An empty list is left out. */
export const packedCounts: Field<number[]> = {
  toPortable: (values) => packedWords.toPortable(values.map(bytesOfCount)),
  fromPortable: (value) => {
    const joined = epee.blob.fromPortable(value);
    if (joined.length % 8 !== 0) throw new BadBytes("not a multiple of 8 bytes");
    value?.charge(joined.length);
    return numbersOf(joined);
  },
  toJson: (values) => packedWords.toJson(values.map(bytesOfCount)),
  fromJson: (json) => packedWords.fromJson(json).flatMap(numbersOf),
};
