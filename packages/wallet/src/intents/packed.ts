/** Responses as they are stored: compressed, since they are kept for ever. */
import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import { type Plain, readCbor, writeCbor } from "../cbor.ts";

const squeeze = promisify(deflateRaw);
const expand = promisify(inflateRaw);

/** Compresses a response of plain data. */
export async function packAnswer(answer: object): Promise<Uint8Array> {
  return new Uint8Array(await squeeze(writeCbor(answer as Plain)));
}

/** Decompresses a response. */
export async function unpackAnswer(packed: Uint8Array): Promise<object> {
  return readCbor(new Uint8Array(await expand(packed))) as object;
}
