import { IDENTITY } from "@anulo/crypto";
import { fromHex } from "@anulo/protocol";

/** A point of order 8. */
export const smallOrder = fromHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05");

/** Encodings of small points, of which the first two are of one point each and the others of none. */
export const strangeKeys: readonly (readonly [what: string, key: Uint8Array])[] = [
  ["the identity", IDENTITY],
  ["a point of small order", smallOrder],
  ["the identity with a sign", fromHex(`01${"00".repeat(30)}80`)],
  ["the identity above the prime", fromHex(`ee${"ff".repeat(30)}7f`)],
  ["a point written as the prime", fromHex(`ed${"ff".repeat(30)}7f`)],
];
