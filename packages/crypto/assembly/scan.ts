/** What a wallet does to every output of the chain, in batches. Element i is at 32·i; a second lane beyond the end repeats the last. */
import { PT, addCached, copyPoint, decompress, encodeBatch, mulBy8, subCached, toCached } from "./point";
import { TABLE_32_BYTES, baseMult, buildTable32, multByTable32 } from "./base";
import { radix16, radix32 } from "./digits";
import { multBySecret } from "./mult";
import { firstBytesOfPair, hashToScalar } from "./keccak";
import { alloc, arenaMark, arenaRewind } from "./arena";

const POINT: usize = memory.data(4 * 160, 16), CACHED: usize = memory.data(4 * 160, 16);
const DIGITS: usize = memory.data(64, 16);
const MESSAGE: usize = memory.data(64, 16);
const SCALARS: usize = memory.data(64, 16);

@inline function second(i: i32, n: i32): i32 {
  return i + 1 < n ? i + 1 : i;
}

/** valid[i], valid[i + 1] = the bits of a decompression; the last byte of an odd batch is written twice. */
@inline function storeValid(valid: usize, i: i32, n: i32, bits: i32): void {
  store<u8>(valid + second(i, n), <u8>(bits >> 1));
  store<u8>(valid + i, <u8>(bits & 1));
}

/** Zeroes the outputs that are not valid. */
function blankInvalid(out: usize, valid: usize, n: i32): void {
  for (let i = 0; i < n; ++i) if (load<u8>(valid + i) == 0) memory.fill(out + 32 * i, 0, 32);
}

/**
 * Elements that share an inversion: few enough that their points stay in the second-level cache and memory stays
 * bounded, many enough that the inversion (5 µs) does not count. Even, since lanes are filled in pairs.
 */
const GROUP: i32 = 512;

/** out_i = 8·s·R_i, `out` of 32·(n + n mod 2) bytes; valid: n bytes. */
export function deriveBatch(out: usize, valid: usize, secret: usize, keys: usize, n: i32): void {
  radix16(DIGITS, secret);
  for (let i = 0; i < n; i += GROUP) deriveGroup(out + 32 * i, valid + i, keys + 32 * i, min(n - i, GROUP));
}

function deriveGroup(out: usize, valid: usize, keys: usize, n: i32): void {
  const mark = arenaMark(), products = alloc(PT * ((n + 1) >> 1));
  for (let i = 0; i < n; i += 2) {
    const product = products + PT * (i >> 1);
    storeValid(valid, i, n, decompress(POINT, keys + 32 * i, keys + 32 * second(i, n)));
    multBySecret(product, POINT, DIGITS);
    mulBy8(product, product, false);
  }
  encodeBatch(out, products, (n + 1) >> 1);
  blankInvalid(out, valid, n);
  arenaRewind(mark);
}

/**
 * For m secrets s_j and n keys R_i: which outputs carry the view tag of 8·s_j·R_i (of the identity, where R_i is no
 * point). `counts[i]` outputs are tried with R_i, each with its `indices` and `tags` (0 … 255, or more for none: then it
 * matches). Writes what matches to `matches`, of 40·m·(number of outputs) bytes: j and the number of the output, 32 bits
 * each, and the derivation. Returns how many. A table is made of each key, whose addresses do not depend on the secrets.
 */
export function matchForMany(
  matches: usize, secrets: usize, m: i32, keys: usize, n: i32, counts: usize, indices: usize, tags: usize,
): i32 {
  const mark = arenaMark(), digits = alloc(64 * m), row = alloc(32 * (m + 1)), table = alloc(TABLE_32_BYTES);
  for (let j = 0; j < m; ++j) radix32(digits + 64 * j, secrets + 32 * j);
  let end = matches, output = 0;
  for (let i = 0; i < n; ++i) {
    const key = keys + 32 * i;
    if (decompress(POINT, key, key)) {
      mulBy8(POINT, POINT, true);
      buildTable32(table, POINT);
      for (let j = 0; j < m; j += GROUP) multiplyGroup(row + 32 * j, table, digits + 64 * j, min(m - j, GROUP));
    } else fillIdentity(row, m);
    for (let left = load<u32>(counts + 4 * i); left > 0; --left, ++output) {
      const tag = load<u32>(tags + 4 * output), rest = tagRest(load<u32>(indices + 4 * output));
      for (let j = 0; j < m; j += 2) {
        const x = row + 32 * j, k = second(j, m), y = row + 32 * k;
        const both = tag < 256 ? viewTagPair(x, rest, y, rest) : 0;
        if (tag > 255 || u32(both & 255) == tag) end = putMatch(end, j, output, x);
        if (k > j && (tag > 255 || u32(both >> 8) == tag)) end = putMatch(end, k, output, y);
      }
    }
  }
  arenaRewind(mark);
  return <i32>(end - matches) / 40;
}

function putMatch(at: usize, secret: u32, output: u32, derivation: usize): usize {
  store<u32>(at, secret);
  store<u32>(at, output, 4);
  memory.copy(at + 8, derivation, 32);
  return at + 40;
}

/** m encodings of the identity. */
function fillIdentity(out: usize, m: i32): void {
  memory.fill(out, 0, 32 * m);
  for (let j = 0; j < m; ++j) store<u8>(out + 32 * j, 1);
}

/** out_j = s_j·P of the point of the table, `out` of 32·(n + n mod 2) bytes. */
function multiplyGroup(out: usize, table: usize, digits: usize, n: i32): void {
  const mark = arenaMark(), products = alloc(PT * ((n + 1) >> 1));
  for (let j = 0; j < n; j += 2)
    multByTable32(products + PT * (j >> 1), table, digits + 64 * j, digits + 64 * second(j, n));
  encodeBatch(out, products, (n + 1) >> 1);
  arenaRewind(mark);
}

/** Appends the varint of a 32-bit index; returns the end. Source: LEB128, as in crypto.cpp. */
export function putVarint(at: usize, value: u32): usize {
  for (; value >= 0x80; value >>= 7) store<u8>(at++, <u8>(value | 0x80));
  store<u8>(at, <u8>value);
  return at + 1;
}

/** tag_i = first byte of keccak256("view_tag" ‖ D_i ‖ varint(index_i)); indices are 32-bit words. */
export function viewTags(out: usize, derivations: usize, indices: usize, n: i32): void {
  for (let i = 0; i < n; i += 2) {
    const j = second(i, n), rest = tagRest(load<u32>(indices + 4 * i)), next = tagRest(load<u32>(indices + 4 * j));
    const both = viewTagPair(derivations + 32 * i, rest, derivations + 32 * j, next);
    store<u8>(out + j, <u8>(both >> 8));
    store<u8>(out + i, <u8>both);
  }
}

/** What follows the derivation in the message of a view tag: varint(index), and the padding's first bit. */
function tagRest(index: u32): u64 {
  store<u64>(MESSAGE, 0);
  store<u8>(putVarint(MESSAGE, index), 1);
  return load<u64>(MESSAGE);
}

/** The view tags of two outputs, the first in the low byte, the second above it. */
@inline function viewTagPair(x: usize, xRest: u64, y: usize, yRest: u64): i32 {
  return firstBytesOfPair(0x6761745f77656976, x, xRest, y, yRest); // "view_tag"
}

/** out = Hs(D ‖ varint(index)) mod ℓ. */
function derivationScalar(out: usize, derivation: usize, index: u32): void {
  memory.copy(MESSAGE, derivation, 32);
  const end = putVarint(MESSAGE + 32, index);
  hashToScalar(out, MESSAGE, <i32>(end - MESSAGE));
}

export function derivationScalars(out: usize, derivations: usize, indices: usize, n: i32): void {
  for (let i = 0; i < n; ++i) derivationScalar(out + 32 * i, derivations + 32 * i, load<u32>(indices + 4 * i));
}

/** out_i = K_i − Hs(D_i ‖ index_i)·G, `out` of 32·(n + n mod 2) bytes. */
export function outputSpendKeys(out: usize, valid: usize, keys: usize, derivations: usize, indices: usize, n: i32): void {
  for (let i = 0; i < n; i += GROUP) {
    outputSpendGroup(out + 32 * i, valid + i, keys + 32 * i, derivations + 32 * i, indices + 4 * i, min(n - i, GROUP));
  }
}

function outputSpendGroup(out: usize, valid: usize, keys: usize, derivations: usize, indices: usize, n: i32): void {
  const mark = arenaMark(), points = alloc(PT * ((n + 1) >> 1));
  for (let i = 0; i < n; i += 2) {
    const j = second(i, n), point = points + PT * (i >> 1);
    derivationScalar(SCALARS, derivations + 32 * i, load<u32>(indices + 4 * i));
    derivationScalar(SCALARS + 32, derivations + 32 * j, load<u32>(indices + 4 * j));
    baseMult(POINT, SCALARS, SCALARS + 32);
    toCached(CACHED, POINT);
    storeValid(valid, i, n, decompress(POINT, keys + 32 * i, keys + 32 * j));
    subCached(point, POINT, CACHED, false);
  }
  encodeBatch(out, points, (n + 1) >> 1);
  blankInvalid(out, valid, n);
  arenaRewind(mark);
}

/** out = Hs("SubAddr\0" ‖ a ‖ major ‖ minor), indices little-endian. Source: device_default.cpp. */
function subaddressScalar(out: usize, viewSecret: usize, major: u32, minor: u32): void {
  store<u64>(MESSAGE, 0x0072646441627553); // "SubAddr\0"
  memory.copy(MESSAGE + 8, viewSecret, 32);
  store<u32>(MESSAGE + 40, major);
  store<u32>(MESSAGE + 44, minor);
  hashToScalar(out, MESSAGE, 48);
}

/** out_i = B + subaddressScalar(major, from + i)·G, also for (0, 0). Returns 0 where B is no point. */
export function subaddressSpendKeys(out: usize, viewSecret: usize, spendPublic: usize, major: u32, from: u32, n: i32): i32 {
  if (!decompress(POINT, spendPublic, spendPublic)) return 0;
  toCached(CACHED, POINT);
  for (let i = 0; i < n; i += GROUP) subaddressGroup(out + 32 * i, viewSecret, major, from + i, min(n - i, GROUP));
  return 1;
}

/** The same, B being in CACHED. */
function subaddressGroup(out: usize, viewSecret: usize, major: u32, from: u32, n: i32): void {
  const mark = arenaMark(), points = alloc(PT * ((n + 1) >> 1));
  for (let i = 0; i < n; i += 2) {
    subaddressScalar(SCALARS, viewSecret, major, from + i);
    subaddressScalar(SCALARS + 32, viewSecret, major, from + i + 1);
    baseMult(POINT, SCALARS, SCALARS + 32);
    addCached(points + PT * (i >> 1), POINT, CACHED, false);
  }
  encodeBatch(out, points, (n + 1) >> 1);
  arenaRewind(mark);
}

/** Overwrites the temporaries of this file. */
export function wipeScan(): void {
  memory.fill(POINT, 0, PT);
  memory.fill(CACHED, 0, PT);
  memory.fill(DIGITS, 0, 64);
  memory.fill(MESSAGE, 0, 64);
  memory.fill(SCALARS, 0, 64);
}
