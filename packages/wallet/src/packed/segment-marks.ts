/**
 * Which of many segments may have a hash: a mask of 32 segments for the first bits of it, two bytes an item, so that a
 * search looks into one or two segments rather than into all of them.
 */
import type { HashSegment } from "./hash-segment.ts";

/** Segments of one group of masks. */
const GROUP = 32;
/** First bits of a hash for one segment: as many masks as half of its items. More segments have more. */
const LEAST_BITS = 14;

type Group = {
  readonly segments: readonly HashSegment[];
  readonly masks: Uint32Array;
  readonly shift: number;
};

function groupOf(segments: readonly HashSegment[]): Group {
  const bits = LEAST_BITS + Math.ceil(Math.log2(segments.length));
  const [masks, shift] = [new Uint32Array(2 ** bits), 32 - bits];
  for (const [index, segment] of segments.entries()) segment.mark(masks, shift, 1 << index);
  return { segments, masks, shift };
}

export class SegmentMarks {
  readonly #groups: readonly Group[];

  constructor(segments: readonly HashSegment[]) {
    const groups = Array.from({ length: Math.ceil(segments.length / GROUP) }, (_, i) =>
      segments.slice(GROUP * i, GROUP * (i + 1)),
    );
    this.#groups = groups.map(groupOf);
  }

  /** The segments that have items with a hash. */
  withHash(hash: number): readonly HashSegment[] {
    let matches: HashSegment[] | undefined;
    for (const { segments, masks, shift } of this.#groups)
      for (let mask = masks[hash >>> shift]!; mask !== 0; mask &= mask - 1) {
        const segment = segments[31 - Math.clz32(mask & -mask)]!;
        if (segment.has(hash)) matches = [...(matches ?? NONE), segment];
      }
    return matches ?? NONE;
  }
}

const NONE: readonly HashSegment[] = [];
