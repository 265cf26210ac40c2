// Inputs made of others, by a generator of numbers that gives the same for the same seed.

/** Numbers from 0 to 2^32 - 1. Source: Tommy Ettinger, mulberry32 (public domain algorithm). */
export function createNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** A seed of its own for each name. */
export function seedOf(seed, name) {
  let hash = seed >>> 0;
  for (const character of name) hash = (Math.imul(hash, 0x01000193) ^ character.charCodeAt(0)) >>> 0;
  return hash;
}

const oddBytes = [0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x0d, 0x20, 0x22, 0x5c];
const oddSizes = [0, 1, 2, 0x7f, 0x80, 0xff, 0x3fff, 0x4000, 0xffff, 0x7fffffff, 0xffffffff];
const oddTexts = [
  ...'{}[]":,0-1.\\&=/%',
  "null",
  "true",
  "-1",
  "1e999",
  "18446744073709551615",
  "18446744073709551616",
  "340282366920938463463374607431768211456",
  "\\u0000",
  "\\ud800",
  "é",
  "💰",
  "\r\n",
  "A".repeat(300),
].map((text) => Buffer.from(text));
const MAX_INPUT = 128 * 1024;

const below = (random, count) => (count === 0 ? 0 : random() % count);

const changes = [
  (bytes, random) => {
    if (bytes.length > 0) bytes[below(random, bytes.length)] ^= 1 << (random() & 7);
    return bytes;
  },
  (bytes, random) => {
    if (bytes.length > 0) bytes[below(random, bytes.length)] = random() & 0xff;
    return bytes;
  },
  (bytes, random) => {
    if (bytes.length > 0) bytes[below(random, bytes.length)] = oddBytes[below(random, oddBytes.length)];
    return bytes;
  },
  (bytes, random) => bytes.subarray(0, below(random, bytes.length + 1)),
  (bytes, random) => bytes.subarray(below(random, bytes.length + 1)),
  (bytes, random) => {
    const at = below(random, bytes.length + 1);
    const length = below(random, Math.min(64, bytes.length - at) + 1);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
  },
  (bytes, random) => {
    const at = below(random, bytes.length + 1);
    const piece = bytes.subarray(at, at + 1 + below(random, 256));
    const times = 1 + below(random, 8);
    return Buffer.concat([bytes.subarray(0, at), ...Array(times).fill(piece), bytes.subarray(at)]);
  },
  (bytes, random) => insert(bytes, random, oddTexts[below(random, oddTexts.length)]),
  (bytes, random) => {
    const size = Buffer.alloc(8);
    size.writeUInt32LE(oddSizes[below(random, oddSizes.length)], 0);
    const width = 1 << below(random, 4);
    if (bytes.length < width) return insert(bytes, random, size.subarray(0, width));
    size.copy(bytes, below(random, bytes.length - width + 1), 0, width);
    return bytes;
  },
  (bytes, random) => {
    const noise = Buffer.from(Array.from({ length: 1 + below(random, 32) }, () => random() & 0xff));
    return insert(bytes, random, noise);
  },
];

function insert(bytes, random, piece) {
  const at = below(random, bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
}

/** A seed with one to eight changes; sometimes two seeds joined, sometimes noise alone. */
export function mutate(seeds, random) {
  const kind = random() % 64;
  if (kind === 0) return Buffer.from(Array.from({ length: below(random, 400) }, () => random() & 0xff));
  let bytes = Buffer.from(seeds[below(random, seeds.length)]);
  if (kind < 6) {
    const other = seeds[below(random, seeds.length)];
    const head = bytes.subarray(0, below(random, bytes.length + 1));
    bytes = Buffer.concat([head, other.subarray(below(random, other.length + 1))]);
  }
  const times = 1 + (random() & 7);
  for (let i = 0; i < times; i++) bytes = Buffer.from(changes[below(random, changes.length)](bytes, random));
  return bytes.subarray(0, MAX_INPUT);
}
