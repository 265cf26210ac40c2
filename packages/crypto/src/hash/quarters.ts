/** Where the quarter rounds of ChaCha, and of BLAKE after it, work: the four columns, then the four diagonals. */
export const QUARTERS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

/** Message word order of ten rounds of BLAKE and BLAKE2. Source: BLAKE's paper, section 2.1; RFC 7693, section 2.7. */
export const BLAKE_ORDER: readonly (readonly number[])[] = [
  "0123456789abcdef",
  "ea489fd61c02b753",
  "b8c052fdae367194",
  "7931dcbe265a40f8",
  "905724afe1bc683d",
  "2c6a0b834d75fe19",
  "c51fed4a0763928b",
  "db7ec13950f4862a",
  "6fe9b308c2d714a5",
  "a2847615fb9e3cd0",
].map((digits) => Array.from(digits, (digit) => Number.parseInt(digit, 16)));
