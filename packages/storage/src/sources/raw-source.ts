import {
  CHAIN_FILE_HEADER_BYTES,
  type ChainFileHeader,
  readBlockPackage,
  readChainFileHeader,
  readPackagedBlock,
} from "@anulo/protocol";
import {
  BadSource,
  type ChainSource,
  CutOff,
  inSource,
  type SourceBlock,
  type SourceStart,
} from "./chain-source.ts";
import { openSource, type SourceBytes } from "./source-bytes.ts";

/** Bytes of the longest chunk that is read: eight times what the original accepts. */
const MAX_CHUNK = 16 * 1024 * 1024;
const SIZE_BYTES = 4;
/** Number of chunks that are skipped between two turns of the event loop: some milliseconds of work. */
const CHUNKS_PER_TURN = 1000;

/** A chunk of the file and the offset of its bytes, which follow their length. */
export interface Chunk {
  readonly height: number;
  readonly offset: number;
  readonly length: number;
}

/** Reads the header of a `blockchain.raw`. Throws BadSource. */
export function readHeader(file: SourceBytes): ChainFileHeader {
  const size = Math.min(file.size(), CHAIN_FILE_HEADER_BYTES);
  const header = inSource(file.path, "the header", () => readChainFileHeader(file.read(0, size)));
  if (size < CHAIN_FILE_HEADER_BYTES) throw new BadSource(file.path, "the file ends inside its header");
  return header;
}

/** The chunks of a file, from one on, up to its end; throws BadSource if the file ends inside a chunk. */
export function* chunks(file: SourceBytes, from: Pick<Chunk, "height" | "offset">): Generator<Chunk, void> {
  const size = file.size();
  let { height } = from;
  for (let at = from.offset - SIZE_BYTES; at < size; height++) {
    const where = `block ${height}, offset ${at}`;
    if (at + SIZE_BYTES > size) throw new CutOff(file.path, `${where}: the file ends inside its length`);
    const length = file.read(at, SIZE_BYTES).readUInt32LE();
    const offset = at + SIZE_BYTES;
    if (length === 0 || length > MAX_CHUNK)
      throw new BadSource(file.path, `${where}: it has ${length} bytes`);
    if (offset + length > size) {
      throw new CutOff(
        file.path,
        `${where}: ${length} bytes were written, and the file ends after ${size - offset}`,
      );
    }
    yield { height, offset, length };
    at = offset + length;
  }
}

/** Offset of the first chunk's bytes. */
const FIRST_CHUNK = CHAIN_FILE_HEADER_BYTES + SIZE_BYTES;

/** Opens a `blockchain.raw`, as monero-blockchain-export writes it. Throws BadSource, and errors of the system. */
export function openRawSource(path: string): ChainSource {
  const file = openSource(path);
  try {
    return createRawSource(file, readHeader(file));
  } catch (error) {
    file.close();
    throw error;
  }
}

function createRawSource(file: SourceBytes, { version, first }: ChainFileHeader): ChainSource {
  /** A chunk that was found before: the next request usually continues after it. */
  let position = { height: first, offset: FIRST_CHUNK };
  const blockOf = (chunk: Chunk, withTransactions: boolean): SourceBlock => {
    const { height, offset, length } = chunk;
    const bytes = file.read(offset, length);
    const place = `offset ${offset}`;
    const where = `block ${height}, ${place}`;
    const about = { height, place, done: (offset + length) / file.size() };
    if (!withTransactions) {
      const blob = inSource(file.path, where, () => readPackagedBlock(bytes));
      return { ...about, blob, transactions: [], weight: undefined };
    }
    const { blob, transactions } = inSource(file.path, where, () => readBlockPackage(bytes, version));
    // The file's writer may have stored any weight: that of a whole block is computed.
    return { ...about, blob, transactions: transactions.map((tx) => ({ blob: tx })), weight: undefined };
  };
  return {
    first,
    pruningSeed: 0,
    *blocks({ height, withTransactions = true }: SourceStart) {
      const from = height >= position.height ? position : { height: first, offset: FIRST_CHUNK };
      for (const chunk of chunks(file, from)) {
        if (chunk.height < height && chunk.height % CHUNKS_PER_TURN === 0) yield undefined;
        if (chunk.height < height) continue;
        if (chunk.height === height) position = chunk;
        yield blockOf(chunk, withTransactions);
      }
    },
    close: () => file.close(),
  };
}
