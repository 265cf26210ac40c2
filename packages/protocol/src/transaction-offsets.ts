/**
 * The offsets of a transaction's keys in its bytes: a scan of very many transactions reads only these, without creating
 * values.
 */
import type { Reader } from "./codec/bytes-io.ts";
import { findExtraKeys } from "./extra.ts";

/** Used instead of an offset: the output has a kind without a one-time key. */
export const NO_KEY = -1;
/** Used instead of a view tag, above any byte: the output has none. */
export const NO_VIEW_TAG = 256;

/** Tags of `txInput` and `txTarget`. Source: cryptonote_basic/cryptonote_basic.h. */
const inputTags = { script: 0x00, scriptHash: 0x01, key: 0x02, generation: 0xff };
const targetTags = { script: 0x00, scriptHash: 0x01, key: 0x02, taggedKey: 0x03 };

/** Filled again for each transaction, so that reading many of them creates no garbage. */
export class TransactionOffsets {
  version = 0;
  /** Height in a miner's input, in blocks; undefined for all other transactions. */
  minerHeight: number | undefined;
  /** Sum of the public output amounts, in atomic units; hidden ones count as 0. */
  amountOut = 0n;
  /** Offset of the key image (32 bytes) of each input that spends an output. */
  readonly keyImages: number[] = [];
  /** Offset of the one-time key (32 bytes) of each output, or `NO_KEY`. */
  readonly outputKeys: number[] = [];
  /** View tag (a byte) of each output, or `NO_VIEW_TAG`. */
  readonly viewTags: number[] = [];
  /** Offset of each transaction public key (32 bytes). */
  readonly publicKeys: number[] = [];
  /** Offset of each additional public key (32 bytes). */
  readonly additionalKeys: number[] = [];

  /**
   * Reads over the prefix of a transaction and finds the offsets, in the bytes of the reader. What follows the prefix
   * is not read. Throws `BadBytes` for every prefix that `readTransaction` refuses.
   */
  find(reader: Reader): void {
    this.#clear();
    this.version = reader.readVarint();
    if (this.version !== 1 && this.version !== 2) throw reader.bad("unknown transaction version");
    reader.skipVarint();
    this.#findInputs(reader);
    this.#findOutputs(reader);
    const extraLength = reader.readVarint();
    const extraStart = reader.skip(extraLength);
    if (this.outputKeys.length > 0)
      findExtraKeys(reader.bytes, { start: extraStart, end: reader.position }, this);
  }

  #clear(): void {
    this.minerHeight = undefined;
    this.amountOut = 0n;
    this.keyImages.length = 0;
    this.outputKeys.length = 0;
    this.viewTags.length = 0;
    this.publicKeys.length = 0;
    this.additionalKeys.length = 0;
  }

  #findInputs(reader: Reader): void {
    const count = readCount(reader);
    if (count === 0 && this.version === 2) throw reader.bad("no inputs");
    for (let i = 0; i < count; i++) {
      const tag = reader.readByte();
      if (tag === inputTags.key) {
        reader.skipVarint();
        for (let remaining = readCount(reader); remaining > 0; remaining--) reader.skipVarint();
        this.keyImages.push(reader.skip(32));
      } else if (tag === inputTags.generation) {
        if (count > 1) throw reader.bad("a generation input beside others");
        this.minerHeight = reader.readVarint();
      } else if (tag === inputTags.script || tag === inputTags.scriptHash) {
        reader.skip(32);
        reader.skipVarint();
        if (tag === inputTags.scriptHash) skipScript(reader);
        skipByteString(reader);
      } else throw reader.bad(`unknown tag ${tag}`);
    }
  }

  #findOutputs(reader: Reader): void {
    for (let remaining = readCount(reader); remaining > 0; remaining--) {
      // Hidden amounts are a zero byte, which need not be parsed.
      if (reader.bytes[reader.position] === 0) reader.skip(1);
      else this.amountOut += reader.readVarint64();
      const tag = reader.readByte();
      let key = NO_KEY;
      let viewTag = NO_VIEW_TAG;
      if (tag === targetTags.taggedKey) {
        key = reader.skip(32);
        viewTag = reader.readByte();
      } else if (tag === targetTags.key) key = reader.skip(32);
      else if (tag === targetTags.scriptHash) reader.skip(32);
      else if (tag === targetTags.script) skipScript(reader);
      else throw reader.bad(`unknown tag ${tag}`);
      this.outputKeys.push(key);
      this.viewTags.push(viewTag);
    }
  }
}

/** Reads a number of elements, each of which has at least one byte. */
function readCount(reader: Reader): number {
  const count = reader.readVarint();
  if (count > reader.remaining) throw reader.bad(`count ${count} above the bytes left`);
  return count;
}

function skipByteString(reader: Reader): void {
  reader.skip(reader.readVarint());
}

function skipScript(reader: Reader): void {
  reader.skip(32 * readCount(reader));
  skipByteString(reader);
}
