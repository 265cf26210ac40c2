/**
 * Working memory of one call. The caller on the JavaScript side resets the arena, places its inputs, calls one
 * function and reads the result; nothing in the arena outlives the call. Permanent tables are static (`memory.data`).
 */
let top: usize = __heap_base;
/** The highest end since the last reset, also of what was rewound. */
let peak: usize = __heap_base;

/** Frees everything that was placed since the last reset. */
export function arenaReset(): void {
  top = peak = __heap_base;
}

/** Reserves `bytes`, 16-byte aligned, growing the memory when needed. Contents are undefined. */
export function alloc(bytes: usize): usize {
  const start = (top + 15) & ~15;
  const end = start + bytes;
  // 64 readable bytes always follow the last reservation: window readers load a whole word at the end of a scalar.
  const pages = <i32>((end + 64 + 0xffff) >> 16) - memory.size();
  if (pages > 0 && memory.grow(max(pages, 16)) < 0) unreachable();
  top = end;
  if (end > peak) peak = end;
  return start;
}

/** Marks the place to which `arenaRewind` frees. */
export function arenaMark(): usize {
  return top;
}

export function arenaRewind(mark: usize): void {
  top = mark;
}

/** Overwrites with zeroes everything placed since the last reset, rewound or not. */
export function arenaWipe(): void {
  memory.fill(__heap_base, 0, peak - __heap_base);
}
